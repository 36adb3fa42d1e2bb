// The law of every store, as tests.
import { expect, test } from "vitest";
import { type Claim, NotClaimed, type Store } from "../../src/receiver/index.js";

let keys = 0;

export function claim(claimed: Partial<Claim> = {}): Claim {
  return { key: `key-${++keys}`, payload: "ab", by: "me.1", at: new Date(1_767_225_600_123), ...claimed };
}

export const answer = { status: 201, contentType: "application/json", body: Uint8Array.of(0, 255, 10) };

export function storeLaw(make: () => Store): void {
  test("gives a key to one of any number of claims, and its entry to the others", async () => {
    const store = make();
    const twin = claim();
    const entries = await Promise.all(Array.from({ length: 50 }, (_, i) => store.claim({ ...twin, by: `me.${i}` })));
    expect(entries.filter((entry) => entry === undefined)).toHaveLength(1);
    const winner = `me.${entries.indexOf(undefined)}`;
    for (const entry of entries.filter((entry) => entry !== undefined)) expect(entry).toEqual({ ...twin, by: winner, state: "CLAIMED" });
  });

  test("gives a finished key's answer byte for byte", async () => {
    const store = make();
    const first = claim();
    await store.claim(first);
    await store.finish(first.key, answer);
    const entry = await store.claim({ ...first, by: "other.1", at: new Date(1_767_225_700_000) });
    expect(entry).toMatchObject({ ...first, state: "FINISHED", answer: { status: 201, contentType: "application/json" } });
    expect(entry?.state === "FINISHED" && [...entry.answer.body]).toEqual([0, 255, 10]);
  });

  test("finishes and releases claimed keys only", async () => {
    const store = make();
    const { key, ...rest } = claim();
    for (const change of [() => store.finish(key, answer), () => store.release(key)]) await expect(change()).rejects.toBeInstanceOf(NotClaimed);
    await store.claim({ key, ...rest });
    await store.release(key);
    expect(await store.claim({ key, ...rest })).toBeUndefined();
    await store.finish(key, answer);
    for (const change of [() => store.finish(key, answer), () => store.release(key)]) await expect(change()).rejects.toBeInstanceOf(NotClaimed);
  });

  test("keeps keys apart that differ in a byte", async () => {
    const store = make();
    const { key, ...rest } = claim();
    for (const near of [key, `${key} `, key.toUpperCase(), `${key}é`]) expect(await store.claim({ ...rest, key: near })).toBeUndefined();
  });

  test("keeps an answer without a body", async () => {
    const store = make();
    const first = claim();
    await store.claim(first);
    await store.finish(first.key, { status: 204, contentType: "", body: new Uint8Array() });
    expect(await store.claim(first)).toMatchObject({ answer: { status: 204, contentType: "" } });
  });
}
