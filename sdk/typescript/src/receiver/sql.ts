import type { Answer } from "./answer.js";
import { type Claim, type Entry, type Memory, NotClaimed, type Store, type Transactor, type Undoing } from "./store.js";

/** What a SqlStore asks of a database: node-postgres's Pool, Client and PGlite are one. */
export interface Queryable {
  query(text: string, params: unknown[]): Promise<{ rows: unknown[] }>;
}

/**
 * Makes the one table of a SqlStore where it isn't there: put it among your
 * migrations. It is that of the Go kit. claimed_at is Unix milliseconds, payload a
 * lowercase hex SHA-256.
 */
export const schema = `CREATE TABLE IF NOT EXISTS countersign_keys (
  idempotency_key TEXT    PRIMARY KEY,
  payload         TEXT    NOT NULL,
  state           TEXT    NOT NULL CHECK (state IN ('CLAIMED', 'FINISHED')),
  claimed_by      TEXT    NOT NULL,
  claimed_at      BIGINT  NOT NULL,
  status          INTEGER NOT NULL DEFAULT 0,
  content_type    TEXT    NOT NULL DEFAULT '',
  body            BYTEA
)`;

interface Row {
  payload: string;
  state: "CLAIMED" | "FINISHED";
  claimed_by: string;
  claimed_at: string | number | bigint;
  status: number;
  content_type: string;
  body: Uint8Array | null;
}

// A mark of a withdrawn key, and what the store knows of itself, are rows of the same table, told by their payload, which is
// no SHA-256: a table of an earlier release needs no migration, and a mark and a claim meet on one primary key.
const withdrawnPayload = "withdrawn";
const memoryPayload = "memory";
const sinceKey = "~since";
const restoredKey = "~restored";
const effect = "countersign_effect";

/** Bounds how often a key is released between our insert, which found it, and our select, which didn't. */
const claimTries = 5;

/**
 * SqlStore keeps keys in a table of PostgreSQL. A key is CLAIMED in a statement of
 * its own before the effect begins and FINISHED in another one after it: what comes
 * between the two leaves it in doubt. Where the effect is in the same database, use
 * SqlTransactions.
 */
export class SqlStore implements Store, Memory, Undoing {
  readonly #db: Queryable;
  #restored: Date | null | undefined; // what restoredAt has found

  constructor(db: Queryable) {
    this.#db = db;
  }

  async claim(claim: Claim): Promise<Entry | undefined> {
    for (let tries = 0; tries < claimTries; tries++) {
      if (await this.#insert(claim)) return undefined;
      const entry = await this.#entry(claim.key);
      if (entry) return entry;
    }
    throw new Error("the key is claimed and released again and again");
  }

  async finish(key: string, answer: Answer): Promise<void> {
    await this.#change(
      `UPDATE countersign_keys SET state = 'FINISHED', status = $2, content_type = $3, body = $4
       WHERE idempotency_key = $1 AND state = 'CLAIMED' RETURNING idempotency_key`,
      [key, answer.status, answer.contentType, answer.body],
    );
  }

  async release(key: string): Promise<void> {
    await this.#change(`DELETE FROM countersign_keys WHERE idempotency_key = $1 AND state = 'CLAIMED' RETURNING idempotency_key`, [key]);
  }

  /** Drops the FINISHED keys that were claimed before a time: 90 days ago or more, see Store. */
  async forget(before: Date): Promise<void> {
    const dropped = `state = 'FINISHED' AND payload <> '${withdrawnPayload}' AND payload <> '${memoryPayload}'`;
    const { rows } = await this.#db.query(`SELECT MAX(claimed_at) AS newest FROM countersign_keys WHERE ${dropped} AND claimed_at < $1`, [before.getTime()]);
    const newest = (rows[0] as { newest: string | number | null } | undefined)?.newest;
    if (newest === null || newest === undefined) return;
    // First it is known that they may be gone, then they are.
    await this.since(new Date());
    await this.#later(sinceKey, Number(newest));
    await this.#db.query(`DELETE FROM countersign_keys WHERE ${dropped} AND claimed_at <= $1`, [Number(newest)]);
  }

  look(key: string): Promise<Entry | undefined> {
    return this.#entry(key);
  }

  /** Is a statement of its own, which is committed when it comes back. */
  async withdraw(key: string, at: Date): Promise<Entry> {
    for (let tries = 0; tries < claimTries; tries++) {
      await this.#mark(key, withdrawnPayload, at, 410);
      const entry = await this.#entry(key);
      if (entry) return entry;
    }
    throw new Error("the key is claimed and released again and again");
  }

  async since(now: Date): Promise<Date> {
    const known = await this.#entry(sinceKey);
    if (known) return known.at;
    await this.#mark(sinceKey, memoryPayload, now, 0);
    return (await this.#entry(sinceKey))?.at ?? now; // another process may have been first
  }

  /** Asks the database once: a restore that another process declares is declared before this one is started. */
  async restoredAt(): Promise<Date | undefined> {
    if (this.#restored === undefined) this.#restored = (await this.#entry(restoredKey))?.at ?? null;
    return this.#restored ?? undefined;
  }

  async restored(at = new Date()): Promise<void> {
    for (const key of [sinceKey, restoredKey]) {
      await this.#mark(key, memoryPayload, at, 0);
      await this.#later(key, at.getTime());
    }
    this.#restored = at;
  }

  async savepoint(): Promise<void> {
    await this.#db.query(`SAVEPOINT ${effect}`, []);
  }

  async undo(): Promise<void> {
    await this.#db.query(`ROLLBACK TO SAVEPOINT ${effect}`, []);
  }

  async #mark(key: string, payload: string, at: Date, status: number): Promise<void> {
    await this.#db.query(
      `INSERT INTO countersign_keys (idempotency_key, payload, state, claimed_by, claimed_at, status)
       VALUES ($1, $2, 'FINISHED', '', $3, $4) ON CONFLICT (idempotency_key) DO NOTHING`,
      [key, payload, at.getTime(), status],
    );
  }

  async #later(key: string, milliseconds: number): Promise<void> {
    await this.#db.query(`UPDATE countersign_keys SET claimed_at = $1 WHERE idempotency_key = $2 AND claimed_at < $1`, [milliseconds, key]);
  }

  async #insert({ key, payload, by, at }: Claim): Promise<boolean> {
    const { rows } = await this.#db.query(
      `INSERT INTO countersign_keys (idempotency_key, payload, state, claimed_by, claimed_at)
       VALUES ($1, $2, 'CLAIMED', $3, $4) ON CONFLICT (idempotency_key) DO NOTHING RETURNING idempotency_key`,
      [key, payload, by, at.getTime()],
    );
    return rows.length === 1;
  }

  async #entry(key: string): Promise<Entry | undefined> {
    const { rows } = await this.#db.query(
      `SELECT payload, state, claimed_by, claimed_at, status, content_type, body FROM countersign_keys WHERE idempotency_key = $1`,
      [key],
    );
    const row = rows[0] as Row | undefined;
    if (!row) return undefined;
    const claim = { key, payload: row.payload, by: row.claimed_by, at: new Date(Number(row.claimed_at)) };
    if (row.payload === withdrawnPayload) return { ...claim, state: "WITHDRAWN" };
    if (row.state === "CLAIMED") return { ...claim, state: row.state };
    return { ...claim, state: row.state, answer: { status: row.status, contentType: row.content_type, body: row.body ?? new Uint8Array() } };
  }

  /** change changes the row of one claimed key. */
  async #change(statement: string, params: unknown[]): Promise<void> {
    const { rows } = await this.#db.query(statement, params);
    if (rows.length !== 1) throw new NotClaimed();
  }
}

/** Runs work in a transaction: commits when it returns, rolls back when it throws. */
export type Begin<Tx> = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/**
 * SqlTransactions is for effects in the same database: exactly once. The key, the
 * effect that the handler makes with the transaction, and the answer are committed
 * together. A crash, a throw, an answer 5xx or 4xx undo all of it, so no key is ever
 * in doubt; a twin waits for the first one's end and gets its answer.
 *
 * It is wrong for a handler that does anything outside of the transaction, such as
 * asking a payment provider: use a SqlStore there. The isolation must be READ
 * COMMITTED, PostgreSQL's default.
 */
export class SqlTransactions<Tx extends Queryable> implements Transactor<Tx>, Memory {
  readonly #begin: Begin<Tx>;
  #restored: Date | null | undefined; // what restoredAt has found

  constructor(begin: Begin<Tx>) {
    this.#begin = begin;
  }

  transaction<T>(work: (tx: Tx, keys: Store) => Promise<T>): Promise<T> {
    return this.#begin((tx) => work(tx, new SqlStore(tx)));
  }

  look(key: string): Promise<Entry | undefined> {
    return this.#begin((tx) => new SqlStore(tx).look(key));
  }

  withdraw(key: string, at: Date): Promise<Entry> {
    return this.#begin((tx) => new SqlStore(tx).withdraw(key, at));
  }

  since(now: Date): Promise<Date> {
    return this.#begin((tx) => new SqlStore(tx).since(now));
  }

  async restoredAt(): Promise<Date | undefined> {
    if (this.#restored === undefined) this.#restored = (await this.#begin((tx) => new SqlStore(tx).restoredAt())) ?? null;
    return this.#restored ?? undefined;
  }

  async restored(at = new Date()): Promise<void> {
    await this.#begin((tx) => new SqlStore(tx).restored(at));
    this.#restored = at;
  }
}

/** What node-postgres's Pool gives. */
interface Pool<Client> {
  connect(): Promise<Client>;
}

/** transactionsOf makes the transactions of a node-postgres Pool: one client each, from BEGIN to COMMIT or ROLLBACK. */
export function transactionsOf<Client extends Queryable & { release(broken?: boolean): void }>(pool: Pool<Client>): Begin<Client> {
  return async (work) => {
    const client = await pool.connect();
    let broken = true; // a client whose transaction has no known end doesn't go back into the pool
    try {
      await client.query("BEGIN", []);
      const result = await ended(client, work);
      broken = false;
      return result;
    } catch (error) {
      broken &&= !(error instanceof RolledBack);
      throw error instanceof RolledBack ? error.cause : error;
    } finally {
      client.release(broken);
    }
  };
}

/** RolledBack carries what `work` threw, once its transaction is undone. */
class RolledBack extends Error {}

async function ended<Client extends Queryable, T>(client: Client, work: (tx: Client) => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await work(client);
  } catch (cause) {
    await client.query("ROLLBACK", []);
    throw new RolledBack("rolled back", { cause });
  }
  await client.query("COMMIT", []);
  return result;
}
