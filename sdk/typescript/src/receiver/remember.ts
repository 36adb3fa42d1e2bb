import type { KeyObject } from "node:crypto";
import { type Answer, maxBytes, problem, type Reply } from "./answer.js";
import { bodyHash, type Call } from "./signature.js";
import { badKey, isKey } from "./statement.js";
import type { Claim, Entry, Store, Transactor, Undoing } from "./store.js";

export interface RememberOptions {
  /** How long a claim of another process counts as in progress; then it is in doubt. Default 2 min, twice a capability's longest timeout. */
  inProgressMs?: number;
  /** Unix milliseconds; default the clock's. */
  now?: () => number;
  /** Signs the answers; see parseAnswerKey. Each answer of the handler is then kept before it is signed, 4xx too. */
  answerKey?: KeyObject;
  /** Is told what goes wrong with the store. */
  onError?: (error: unknown) => void;
}

/** What a handler gets with a call that has a side effect. */
export interface Delivery<Tx = undefined> {
  /** The transaction to make the effect in, of a Transactor. */
  tx: Tx;
  /** Says, before a throw or an answer 5xx, that the effect has surely not happened: the key is freed. */
  release(): void;
}

/** Names this process's claims apart from those of others. */
const instance = crypto.randomUUID();
const running = new Map<string, string>(); // claims by their names, to their keys
let claims = 0;

/** atWork reports a request under the key in this process. */
export function atWork(key: string): boolean {
  return [...running.values()].includes(key);
}

/**
 * remember lets a side effect happen once for each key. The first call runs
 * `handler`; a repeat with the same method, target and body gets the first answer
 * with `Idempotency-Replayed: true`. Otherwise it is 409: idempotency_conflict for
 * another payload, in_progress (with Retry-After) while the first one is at work,
 * in_doubt where nobody knows whether the effect happened. A key in doubt never runs
 * again by itself: look up what happened, then release or finish it in the store.
 *
 * What becomes of the key depends on the answer. Below 400 it is remembered: answer
 * so only with the final state. 4xx frees it: answer so only where nothing happened.
 * 408, 5xx, and a throw, which is passed on, leave it in doubt, for nobody knows whether
 * they came before or after the effect; `release()` says that it was before. An
 * answer that can't be remembered, or has more than 1 MiB, isn't given either: 500
 * not_remembered.
 */
export async function remember<Tx = undefined>(
  store: Store | Transactor<Tx>,
  call: Pick<Call, "method" | "target" | "idempotencyKey"> & { body: Uint8Array },
  handler: (delivery: Delivery<Tx>) => Promise<Answer> | Answer,
  options: RememberOptions = {},
): Promise<Reply> {
  if (!isKey(call.idempotencyKey)) return badKey();
  const once = new Once(handler, options, claimOf(call, options));
  running.set(once.claim.by, once.claim.key); // before the claim, which others see at once
  try {
    return "transaction" in store ? await once.inTransaction(store) : await once.run(undefined as Tx, store);
  } finally {
    running.delete(once.claim.by);
  }
}

function claimOf(call: { method: string; target: string; idempotencyKey: string; body: Uint8Array }, { now = Date.now }: RememberOptions): Claim {
  const payload = bodyHash(`${call.method}\n${call.target}\n${bodyHash(call.body)}`);
  return { key: call.idempotencyKey, payload, by: `${instance}.${++claims}`, at: new Date(now()) };
}

/** Undo ends a transaction without its effect, and carries what is answered all the same. */
class Undo extends Error {
  readonly outcome: Reply | { thrown: unknown };

  constructor(outcome: Reply | { thrown: unknown }) {
    super("undone");
    this.outcome = outcome;
  }
}

/** Once is one request on its way through. */
class Once<Tx> {
  readonly claim: Claim;
  readonly #handler: (delivery: Delivery<Tx>) => Promise<Answer> | Answer;
  readonly #options: RememberOptions;
  #begun = false; // whether the handler was called

  constructor(handler: (delivery: Delivery<Tx>) => Promise<Answer> | Answer, options: RememberOptions, claim: Claim) {
    this.#handler = handler;
    this.#options = options;
    this.claim = claim;
  }

  async inTransaction(store: Transactor<Tx>): Promise<Reply> {
    try {
      return await store.transaction((tx, keys) => this.run(tx, keys, true));
    } catch (error) {
      if (!(error instanceof Undo)) return this.#failed(error);
      if ("thrown" in error.outcome) throw error.outcome.thrown;
      return error.outcome;
    }
  }

  async run(tx: Tx, keys: Store, undoable = false): Promise<Reply> {
    let entry: Entry | undefined;
    try {
      entry = await keys.claim(this.claim);
      if (entry && hasEnded(entry)) entry = await keys.claim(this.claim);
    } catch (error) {
      if (undoable) throw error;
      return this.#failed(error);
    }
    if (entry) return repeat(entry, this.claim, this.#options.inProgressMs ?? 120_000);
    if (undoable && this.#options.answerKey) await (keys as Store & Undoing).savepoint();
    const delivery = new Effect(tx);
    const outcome = await this.#perform(delivery);
    return undoable ? this.#commit(outcome, delivery.released, keys) : this.#settle(outcome, delivery.released, keys);
  }

  async #perform(delivery: Effect<Tx>): Promise<Reply | { thrown: unknown }> {
    this.#begun = true;
    try {
      return { headers: {}, ...(await this.#handler(delivery)) };
    } catch (thrown) {
      return { thrown };
    }
  }

  /** commit keeps what was done in a transaction, or undoes it with the key. */
  async #commit(outcome: Reply | { thrown: unknown }, released: boolean, keys: Store): Promise<Reply> {
    if ("thrown" in outcome) throw new Undo(outcome);
    if (outcome.body.byteLength > maxBytes) throw new Undo(this.#failed(new TooLong()));
    if (released || !this.#keeps(outcome.status)) throw new Undo({ ...outcome, unsigned: true });
    if (outcome.status >= 400) await (keys as Store & Undoing).undo(); // its answer is kept, and its effect isn't
    await keys.finish(this.claim.key, outcome);
    return outcome;
  }

  /** settle decides what becomes of a key whose effect stands by itself. */
  async #settle(outcome: Reply | { thrown: unknown }, released: boolean, keys: Store): Promise<Reply> {
    const refused = !("thrown" in outcome) && outcome.status >= 400 && outcome.status < 500 && outcome.status !== 408 && !this.#keeps(outcome.status);
    if (released || refused) await this.#release(keys);
    if ("thrown" in outcome) throw outcome.thrown;
    if (outcome.body.byteLength > maxBytes) return this.#failed(new TooLong());
    if (released || !this.#keeps(outcome.status)) return { ...outcome, unsigned: true };
    try {
      await keys.finish(this.claim.key, outcome);
      return outcome;
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** keeps reports an answer that is kept: below 400, and where answers are signed every one that says what was done. */
  #keeps(status: number): boolean {
    return status < 400 || (this.#options.answerKey !== undefined && status < 500 && status !== 408);
  }

  /** release frees the key. Where that fails it stays in doubt, which is safe. */
  async #release(keys: Store): Promise<void> {
    await keys.release(this.claim.key).catch((error) => this.#options.onError?.(error));
  }

  /** failed answers for a store that could not be asked, or could not remember. */
  #failed(error: unknown): Reply {
    this.#options.onError?.(error);
    if (!this.#begun) return problem(503, "unavailable", "the store of idempotency keys could not be asked; nothing was done", { "Retry-After": "1" });
    return problem(500, "not_remembered", "the answer could not be remembered, so it is not given: look up what happened under this key");
  }
}

class Effect<Tx> implements Delivery<Tx> {
  readonly tx: Tx;
  released = false;

  constructor(tx: Tx) {
    this.tx = tx;
  }

  release = (): void => {
    this.released = true;
  };
}

class TooLong extends Error {
  constructor() {
    super("an answer is larger than 1 MiB");
  }
}

/** repeat answers a request whose key is taken. */
function repeat(entry: Entry, claim: Claim, inProgressMs: number): Reply {
  if (entry.state === "WITHDRAWN") return problem(410, "key_withdrawn", "this idempotency key was withdrawn before any call under it was seen: nothing was done, and nothing will be");
  if (entry.payload !== claim.payload) return problem(409, "idempotency_conflict", "this idempotency key came with another method, target or body");
  if (entry.state === "FINISHED") return { ...entry.answer, headers: { "Idempotency-Replayed": "true" } };
  if (isAt(entry, claim.at, inProgressMs)) {
    return { ...problem(409, "in_progress", "another request under this idempotency key is at work; ask again for its answer", { "Retry-After": "1" }), unsigned: true };
  }
  return { unsigned: true, ...problem(409, "in_doubt", "an earlier request under this idempotency key never came to an end: nobody knows whether it had its effect, so it is not tried again. Look up what happened") };
}

/** A claim of this process that was still there when the store was asked, and whose call is over by now: what became of it the store knows. */
function hasEnded(entry: Entry): boolean {
  return entry.state === "CLAIMED" && entry.by.startsWith(`${instance}.`) && !running.has(entry.by);
}

/** Whether somebody is still at a claim. Of this process that is known; of another, which may have died, it is assumed for a while. */
export function isAt(entry: Claim, now: Date, inProgressMs: number): boolean {
  if (entry.by.startsWith(`${instance}.`)) return running.has(entry.by);
  return now.getTime() - entry.at.getTime() < inProgressMs;
}
