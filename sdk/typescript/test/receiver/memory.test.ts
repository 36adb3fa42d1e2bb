import { describe, expect, test } from "vitest";
import { json, MemoryStore, remember } from "../../src/receiver/index.js";
import { answer, claim, storeLaw } from "./law.js";
import { callOf, code, never, rememberLaw } from "./remembering.js";

const day = 24 * 60 * 60 * 1000;

describe("the memory store", () => storeLaw(() => new MemoryStore()));
describe("remembering in memory", () => rememberLaw(() => new MemoryStore()));

describe("the memory store's bounds", () => {
  test("the oldest finished keys go first, and no claimed one", async () => {
    const store = new MemoryStore({ maxKeys: 3 });
    for (const key of ["claimed", "old", "new"]) await store.claim(claim({ key }));
    for (const key of ["old", "new"]) await store.finish(key, answer);
    expect(await store.claim(claim({ key: "one-more" }))).toBeUndefined();
    expect(await store.claim(claim({ key: "claimed" }))).toMatchObject({ state: "CLAIMED" });
    expect(await store.claim(claim({ key: "new" }))).toMatchObject({ state: "FINISHED" });
    expect(await store.claim(claim({ key: "old" }))).toBeUndefined();
  });

  test("a store full of claimed keys takes no more", async () => {
    const store = new MemoryStore({ maxKeys: 1 });
    await store.claim(claim());
    await expect(store.claim(claim())).rejects.toThrow("full");
  });

  test("answers go by their bytes and by their age", async () => {
    const store = new MemoryStore({ maxBytes: 5, maxAgeMs: day });
    const [a, b] = [claim(), claim({ at: new Date(1_767_225_600_123 + 1000) })];
    for (const one of [a, b]) {
      await store.claim(one);
      await store.finish(one.key, answer);
    }
    expect(await store.claim(b)).toMatchObject({ state: "FINISHED" });
    expect(await store.claim(a)).toBeUndefined(); // three bytes and three are more than five
    expect(await store.claim({ ...b, at: new Date(b.at.getTime() + day + 1) })).toBeUndefined();
  });
});

test("a store that can't be asked is 503, and nothing was done", async () => {
  const away = { claim: () => Promise.reject(new Error("no connection")), finish: never, release: never };
  const errors: unknown[] = [];
  const reply = await remember(away, callOf(), never, { onError: (error) => errors.push(error) });
  expect([reply.status, code(reply), reply.headers]).toEqual([503, "unavailable", { "Retry-After": "1" }]);
  expect(errors).toHaveLength(1);
});

test("an answer that the store did not take is not given", async () => {
  const store = { claim: async () => undefined, finish: () => Promise.reject(new Error("no connection")), release: never };
  const reply = await remember(store, callOf(), () => json(201));
  expect([reply.status, code(reply)]).toEqual([500, "not_remembered"]);
});

test("a key that is too long is refused", async () => {
  expect((await remember(new MemoryStore(), callOf("{}", "k".repeat(513)), never)).status).toBe(400);
});
