import type { Answer } from "./answer.js";
import { type Claim, type Entry, type Memory, NotClaimed, type Store } from "./store.js";

export interface MemoryBounds {
  /** Default 10000. */
  maxKeys?: number;
  /** Of all answers' bodies together. Default 64 MiB. */
  maxBytes?: number;
  /** Of an answer. Default 90 days. */
  maxAgeMs?: number;
}

const day = 24 * 60 * 60 * 1000;

/**
 * MemoryStore keeps keys in this process and forgets them when it ends, after which
 * a repeated call has its effect again: it is for tests, for trying out, and for
 * effects that can be repeated without harm. Beyond a bound the oldest FINISHED key
 * goes first; a CLAIMED one is never dropped.
 */
export class MemoryStore implements Store, Memory {
  readonly #bounds: Required<MemoryBounds>;
  readonly #claimed = new Map<string, Claim>();
  readonly #finished = new Map<string, Entry & { state: "FINISHED" }>(); // in the order of finishing
  readonly #withdrawn = new Map<string, Claim>(); // never dropped
  #restored: Date | undefined;
  #bytes = 0;

  constructor(bounds: MemoryBounds = {}) {
    this.#bounds = { maxKeys: 10_000, maxBytes: 64 << 20, maxAgeMs: 90 * day, ...bounds };
  }

  async claim(claim: Claim): Promise<Entry | undefined> {
    this.#drop((oldest) => oldest.at.getTime() < claim.at.getTime() - this.#bounds.maxAgeMs);
    const known = this.#known(claim.key);
    if (known) return known;
    this.#makeRoom();
    this.#claimed.set(claim.key, claim);
    return undefined;
  }

  /** look tells, and changes nothing. */
  look(key: string): Promise<Entry | undefined> {
    return Promise.resolve(this.#known(key));
  }

  async withdraw(key: string, at: Date): Promise<Entry> {
    const known = this.#known(key);
    if (known) return known;
    this.#makeRoom();
    const mark = { key, payload: "", by: "", at };
    this.#withdrawn.set(key, mark);
    return { ...mark, state: "WITHDRAWN" };
  }

  /** What only this process remembers may have been forgotten up to now. */
  async since(now: Date): Promise<Date> {
    return now;
  }

  async restoredAt(): Promise<Date | undefined> {
    return this.#restored;
  }

  async restored(at = new Date()): Promise<void> {
    this.#restored = at;
  }

  #known(key: string): Entry | undefined {
    const running = this.#claimed.get(key);
    if (running) return { ...running, state: "CLAIMED" };
    const mark = this.#withdrawn.get(key);
    if (mark) return { ...mark, state: "WITHDRAWN" };
    const done = this.#finished.get(key);
    return done && { ...done, answer: copy(done.answer) };
  }

  #makeRoom(): void {
    const held = this.#claimed.size + this.#withdrawn.size;
    this.#drop(() => held + this.#finished.size >= this.#bounds.maxKeys);
    if (held >= this.#bounds.maxKeys) throw new Error("the store is full of claimed keys");
  }

  async finish(key: string, answer: Answer): Promise<void> {
    const claim = this.#take(key);
    this.#finished.set(key, { ...claim, state: "FINISHED", answer: copy(answer) });
    this.#bytes += answer.body.byteLength;
    this.#drop(() => this.#bytes > this.#bounds.maxBytes && this.#finished.size > 1);
  }

  async release(key: string): Promise<void> {
    this.#take(key);
  }

  #take(key: string): Claim {
    const claim = this.#claimed.get(key);
    if (!claim) throw new NotClaimed();
    this.#claimed.delete(key);
    return claim;
  }

  /** drop forgets finished keys, the oldest first, as long as one must go. */
  #drop(must: (oldest: Entry & { state: "FINISHED" }) => boolean): void {
    for (const [key, entry] of this.#finished) {
      if (!must(entry)) return;
      this.#finished.delete(key);
      this.#bytes -= entry.answer.body.byteLength;
    }
  }
}

function copy(answer: Answer): Answer {
  return { ...answer, body: Uint8Array.from(answer.body) };
}
