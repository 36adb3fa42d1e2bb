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
export type Entry = Claim & ({ state: "CLAIMED" } | { state: "FINISHED"; answer: Answer });

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
