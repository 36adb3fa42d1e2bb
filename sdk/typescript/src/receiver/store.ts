import type { Answer } from "./answer.js";

/** A request that wants a key. */
export interface Claim {
  /** The idempotency key; no two that differ in a byte are the same. */
  key: string;
  /** Lowercase hex SHA-256 over method, target and body hash. */
  payload: string;
  /** Which request of which process claims. */
  by: string;
  at: Date;
}

/** What a store knows of a key: the claim that got it, and its answer once FINISHED. */
export type Entry = Claim & ({ state: "CLAIMED" } | { state: "FINISHED"; answer: Answer } | { state: "WITHDRAWN" });

/**
 * Store remembers what was asked and answered under each key, for many requests at
 * once and, where it outlives the process, for several processes. Its law:
 *
 * A change that came back is durable to the store's degree and seen by whoever asks
 * after it. No key is forgotten while it is CLAIMED. FINISHED keys are kept 90 days
 * or more: one that is forgotten can be claimed again, and the effect happens twice.
 */
export interface Store {
  /** Makes an unknown key CLAIMED and gives nothing. Of any number of claims at once one gets it; the others get the entry as it is. */
  claim(claim: Claim): Promise<Entry | undefined>;
  /** Makes a CLAIMED key FINISHED; later claims get this answer byte for byte. Throws NotClaimed for any other key. */
  finish(key: string, answer: Answer): Promise<void>;
  /** Forgets a CLAIMED key: for whoever knows that the effect did not happen. Throws NotClaimed for any other key. */
  release(key: string): Promise<void>;
}

/**
 * Memory is a store that can say what became of a key; a receiver with a `settlement` needs one.
 */
export interface Memory {
  /** The entry of a key, if there is one. It changes nothing. */
  look(key: string): Promise<Entry | undefined>;
  /**
   * Makes an unknown key WITHDRAWN, for ever: a call under it gets 410 without effect. It is one insert-or-nothing on what
   * decides a claim, too, committed before it comes back, and gives the entry as it then is. While a transaction has
   * claimed the key it waits for that to end, or throws.
   */
  withdraw(key: string, at: Date): Promise<Entry>;
  /** The time from which on the store has forgotten no key: its making, the claim of the newest that was dropped, a declared restore. */
  since(now: Date): Promise<Date>;
  /** The time of the latest declared restore. */
  restoredAt(): Promise<Date | undefined>;
  /**
   * Declares that the store was set back at this time, by a restore or a failover that may lack commits. Call it before the
   * API comes up: calls are then taken only after 10 minutes. Nothing can find this out by itself.
   */
  restored(at?: Date): Promise<void>;
}

/** isMemory reports a store that can say what became of a key. */
export function isMemory(store: object): store is Memory {
  return ["look", "withdraw", "since", "restoredAt", "restored"].every((name) => typeof (store as Record<string, unknown>)[name] === "function");
}

/** What a store inside a transaction can do besides: go back to where the handler began. */
export interface Undoing {
  savepoint(): Promise<void>;
  undo(): Promise<void>;
}

/**
 * Transactor remembers a key in the transaction of its effect. `work` gets the
 * transaction and the Store inside it; what it did is committed when it returns,
 * and undone when it throws.
 */
export interface Transactor<Tx> {
  transaction<T>(work: (tx: Tx, keys: Store) => Promise<T>): Promise<T>;
}

/** finish or release of a key that isn't CLAIMED. */
export class NotClaimed extends Error {
  override readonly name = "NotClaimed";

  constructor() {
    super("the key is not claimed");
  }
}
