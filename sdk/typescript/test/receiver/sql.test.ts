// The SQL store over a real PostgreSQL in this process (PGlite).
import { PGlite, type Transaction } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Delivery, json, parseAnswerKey, type Queryable, remember, schema, SqlStore, SqlTransactions, transactionsOf } from "../../src/receiver/index.js";
import { answer, claim, storeLaw } from "./law.js";
import { callOf, code, never, rememberLaw } from "./remembering.js";

const day = 24 * 60 * 60 * 1000;
const db = new PGlite();

beforeAll(async () => {
  await db.exec(schema);
  await db.exec(schema); // again and again is fine
  await db.exec("CREATE TABLE refunds (id TEXT PRIMARY KEY)");
}, 120_000); // PostgreSQL sets itself up
afterAll(() => db.close());

describe("the law of stores", () => storeLaw(() => new SqlStore(db)));
describe("remembering", () => rememberLaw(() => new SqlStore(db)));

describe("the sql store", () => {
  test("forgets finished keys before a time, and no claimed one", async () => {
    const store = new SqlStore(db);
    const [old, claimed, fresh] = [claim({ at: new Date(0) }), claim({ at: new Date(0) }), claim()];
    for (const one of [old, claimed, fresh]) await store.claim(one);
    for (const one of [old, fresh]) await store.finish(one.key, answer);
    await store.forget(new Date(day));
    expect(await store.claim(old)).toBeUndefined();
    expect(await store.claim(claimed)).toMatchObject({ state: "CLAIMED" });
    expect(await store.claim(fresh)).toMatchObject({ state: "FINISHED" });
  });

  test("reads a BIGINT that comes as text, as node-postgres gives it", async () => {
    const asText: Queryable = {
      query: async (text, params) => ({ rows: (await db.query<Record<string, unknown>>(text, params)).rows.map((row) => ({ ...row, claimed_at: String(row.claimed_at) })) }),
    };
    const first = claim();
    await new SqlStore(asText).claim(first);
    expect((await new SqlStore(asText).claim(first))?.at).toEqual(first.at);
  });
});

describe("what became of a key", () => {
  test("a mark and a claim meet on one key; marks and the memory's own rows are never forgotten", async () => {
    await db.exec("DELETE FROM countersign_keys"); // a memory that begins
    const store = new SqlStore(db);
    const [never, done] = [claim(), claim({ at: new Date(day) })];
    const began = new Date(1000);
    expect(await store.since(began)).toEqual(began);
    expect(await store.withdraw(never.key, new Date(0))).toMatchObject({ state: "WITHDRAWN" });
    expect(await store.claim(never)).toMatchObject({ state: "WITHDRAWN" });
    await store.claim(done);
    expect(await store.withdraw(done.key, new Date())).toMatchObject({ state: "CLAIMED" });
    await store.finish(done.key, answer);
    expect(await store.withdraw(done.key, new Date())).toMatchObject({ state: "FINISHED" });
    await store.forget(new Date(day + 1));
    expect(await store.look(done.key)).toBeUndefined();
    expect(await store.since(new Date())).toEqual(new Date(day)); // the claim of the newest that was dropped
    expect(await store.look(never.key)).toMatchObject({ state: "WITHDRAWN" });
    await store.restored(new Date(2 * day));
    expect(await new SqlStore(db).restoredAt()).toEqual(new Date(2 * day));
    expect(await new SqlStore(db).since(new Date())).toEqual(new Date(2 * day));
  });

  test("a refusal is kept with an answer key, and its effect isn't", async () => {
    const store = new SqlTransactions<Transaction>((work) => db.transaction(work));
    const options = { answerKey: parseAnswerKey("00".repeat(32)) };
    const call = callOf();
    const refuse = async ({ tx }: Delivery<Transaction>) => {
      await tx.query("INSERT INTO refunds (id) VALUES ('refused')");
      return json(422, { error: "limit" });
    };
    expect((await remember(store, call, refuse, options)).status).toBe(422);
    expect((await remember(store, call, never, options)).headers).toEqual({ "Idempotency-Replayed": "true" });
    expect((await db.query("SELECT 1 FROM refunds WHERE id = 'refused'")).rows).toEqual([]);
  });
});

describe("in the transaction of the effect", () => {
  const store = new SqlTransactions<Transaction>((work) => db.transaction(work));
  const insert = async ({ tx }: Delivery<Transaction>, id: string) => {
    await tx.query("INSERT INTO refunds (id) VALUES ($1)", [id]);
    return json(201, { id });
  };
  const refunds = async (id: string) => (await db.query("SELECT id FROM refunds WHERE id = $1", [id])).rows.length;

  test("key, effect and answer are committed together, and a repeat gets the answer", async () => {
    const call = callOf();
    expect((await remember(store, call, (delivery) => insert(delivery, "r-1"))).status).toBe(201);
    expect(await remember(store, call, never)).toMatchObject({ status: 201, headers: { "Idempotency-Replayed": "true" } });
    expect(await refunds("r-1")).toBe(1);
  });

  test("twins at once have one effect, and each gets its answer", async () => {
    const call = callOf();
    const replies = await Promise.all(Array.from({ length: 20 }, () => remember(store, call, (delivery) => insert(delivery, "r-2"))));
    expect(replies.map((reply) => reply.status)).toEqual(Array(20).fill(201));
    expect(replies.filter((reply) => reply.headers["Idempotency-Replayed"])).toHaveLength(19);
  });

  test.each([
    ["a throw", async () => Promise.reject(new Error("half-way"))],
    ["a 5xx", async () => json(500, {})],
    ["a 4xx", async () => json(422, {})],
    ["an answer that is too large", async () => ({ status: 200, contentType: "", body: new Uint8Array((1 << 20) + 1) })],
  ])("%s undoes the effect with the key: a repeat runs", async (name, end) => {
    const call = callOf();
    const failing = async (delivery: Delivery<Transaction>) => {
      await insert(delivery, name);
      return end();
    };
    await remember(store, call, failing).catch((error: Error) => expect(error.message).toBe("half-way"));
    expect(await refunds(name)).toBe(0);
    expect((await remember(store, call, (delivery) => insert(delivery, name))).status).toBe(201);
    expect(await refunds(name)).toBe(1);
  });

  test("release() undoes the effect, whatever is answered", async () => {
    const call = callOf();
    const taken = async (delivery: Delivery<Transaction>) => {
      delivery.release();
      return insert(delivery, "released");
    };
    expect((await remember(store, call, taken)).status).toBe(201);
    expect(await refunds("released")).toBe(0);
    expect((await remember(store, call, () => json(204))).headers).toEqual({});
  });

  test("a transaction that can't begin is 503; one that can't be committed is 500", async () => {
    const noBegin = new SqlTransactions<Transaction>(() => Promise.reject(new Error("no connection")));
    expect(code(await remember(noBegin, callOf(), never))).toBe("unavailable");
    const noCommit = new SqlTransactions<Transaction>((work) =>
      db.transaction(async (tx) => {
        await work(tx);
        throw new Error("lost at COMMIT");
      }),
    );
    expect(code(await remember(noCommit, callOf(), (delivery) => insert(delivery, "r-3")))).toBe("not_remembered");
    expect(await refunds("r-3")).toBe(0);
  });
});

describe("the transactions of a pool", () => {
  const released: (boolean | undefined)[] = [];
  const query = (text: string, params: unknown[]) => db.query<Record<string, unknown>>(text, params);
  const store = new SqlTransactions(transactionsOf({ connect: async () => ({ query, release: (broken?: boolean) => void released.push(broken) }) }));

  test("are committed or rolled back, and give their client back", async () => {
    const call = callOf();
    const pay = async ({ tx }: Delivery<{ query: typeof query }>, status: number) => {
      await tx.query("INSERT INTO refunds (id) VALUES ($1)", ["pooled"]);
      return json(status, {});
    };
    expect((await remember(store, call, (delivery) => pay(delivery, 500))).status).toBe(500);
    expect((await remember(store, call, (delivery) => pay(delivery, 201))).status).toBe(201);
    expect((await remember(store, call, never)).headers).toEqual({ "Idempotency-Replayed": "true" });
    expect(released).toEqual([false, false, false]);
  });

  test("drop a client whose transaction has no known end", async () => {
    const dropped: (boolean | undefined)[] = [];
    const lost = async (text: string) => (text === "COMMIT" ? Promise.reject(new Error("connection lost")) : { rows: text.startsWith("BEGIN") ? [] : [{}] });
    const begin = transactionsOf({ connect: async () => ({ query: lost, release: (broken?: boolean) => void dropped.push(broken) }) });
    expect(code(await remember(new SqlTransactions(begin), callOf(), () => json(201)))).toBe("not_remembered");
    expect(dropped).toEqual([true]);
  });
});
