// What a repeat gets, and what becomes of a key by its answer, as tests over any store.
import { expect, test } from "vitest";
import { type Delivery, json, MemoryStore, remember, type Reply, type Store } from "../../src/receiver/index.js";

let keys = 0;

export function callOf(body = "{}", idempotencyKey = `run-${++keys}.refund`) {
  return { method: "POST", target: "/refunds", idempotencyKey, body: Buffer.from(body) };
}

/** code is the kit's own word in a reply. */
export function code(reply: Reply): string {
  return JSON.parse(Buffer.from(reply.body).toString()).error;
}

/** never is the handler of a call that must not run. */
export function never(): never {
  throw new Error("it ran again");
}

export function rememberLaw(make: () => Store): void {
  test("a repeat gets the first answer, and the handler runs once", async () => {
    const [store, call] = [make(), callOf()];
    const first = await remember(store, call, () => json(201, { id: "r-1" }));
    const again = await remember(store, call, never);
    expect(first.headers).toEqual({});
    expect(again).toMatchObject({ status: 201, contentType: "application/json", headers: { "Idempotency-Replayed": "true" } });
    expect(Buffer.from(again.body)).toEqual(Buffer.from(first.body));
  });

  test.each([
    ["body", { body: Buffer.from("{} ") }],
    ["target", { target: "/refunds?x=1" }],
    ["method", { method: "PUT" }],
  ])("another %s under the key is 409", async (_, other) => {
    const [store, call] = [make(), callOf()];
    await remember(store, call, () => json(200));
    const reply = await remember(store, { ...call, ...other }, never);
    expect([reply.status, code(reply)]).toEqual([409, "idempotency_conflict"]);
  });

  test("of fifty twins at once one runs; the others are told to ask again", async () => {
    const [store, call] = [make(), callOf()];
    let effects = 0;
    let finish = () => {};
    const done = new Promise<void>((ended) => (finish = ended));
    const effect = async () => {
      effects++;
      await done;
      return json(201);
    };
    const twins = Array.from({ length: 50 }, () => remember(store, call, effect));
    let waiting = 0;
    for (const twin of twins) void twin.then(() => ++waiting === 49 && finish());
    const replies = await Promise.all(twins);
    expect(effects).toBe(1);
    expect(replies.filter((reply) => reply.status === 201)).toHaveLength(1);
    const others = replies.filter((reply) => reply.status === 409);
    expect(others.map(code)).toEqual(Array(49).fill("in_progress"));
    expect(others.map((reply) => reply.headers["Retry-After"])).toEqual(Array(49).fill("1"));
  });

  test("a 4xx frees the key", async () => {
    const [store, call] = [make(), callOf()];
    expect((await remember(store, call, () => json(422, {}))).status).toBe(422);
    expect((await remember(store, { ...call, body: Buffer.from("corrected") }, () => json(201))).status).toBe(201);
  });

  test("a throw, a 5xx and a 408 leave the key in doubt, and nothing runs again by itself", async () => {
    const store = make();
    const [thrown, failed, late] = [callOf(), callOf(), callOf()];
    await expect(remember(store, thrown, () => Promise.reject(new Error("half-way")))).rejects.toThrow("half-way");
    expect((await remember(store, failed, () => json(502, {}))).status).toBe(502);
    expect((await remember(store, late, () => json(408, {}))).status).toBe(408);
    for (const call of [thrown, failed, late]) {
      const reply = await remember(store, call, never);
      expect([reply.status, code(reply), reply.headers]).toEqual([409, "in_doubt", {}]);
      await store.release(call.idempotencyKey); // a person has looked
      expect((await remember(store, call, () => json(201))).status).toBe(201);
    }
  });

  test("a twin of one that just ended gets its answer, and isn't told that nobody knows", async () => {
    const [inner, call] = [make(), callOf()];
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const first = remember(inner, call, () => held.then(() => json(201, { made: 1 })));
    const late: Store = {
      claim: async (claim) => {
        const entry = await inner.claim(claim);
        if (entry?.state === "CLAIMED") {
          goOn(); // the first one ends between the store's answer and ours
          await first;
        }
        return entry;
      },
      finish: (key, answer) => inner.finish(key, answer),
      release: (key) => inner.release(key),
    };
    const reply = await remember(late, call, never);
    expect([reply.status, reply.headers["Idempotency-Replayed"]]).toEqual([201, "true"]);
  });

  test("release() says that nothing happened: a repeat runs", async () => {
    const [store, call] = [make(), callOf()];
    const refuse = ({ release }: Delivery) => {
      release();
      throw new Error("the bank is closed");
    };
    await expect(remember(store, call, refuse)).rejects.toThrow("closed");
    expect((await remember(store, call, () => json(201))).status).toBe(201);
  });

  test("an answer that is too large is not given, and the key is in doubt", async () => {
    const [store, call] = [make(), callOf()];
    const reply = await remember(store, call, () => ({ status: 200, contentType: "text/plain", body: new Uint8Array((1 << 20) + 1) }));
    expect([reply.status, code(reply)]).toEqual([500, "not_remembered"]);
    expect(code(await remember(store, call, never))).toBe("in_doubt");
  });

  test("another process's claim counts as in progress for a while, then as in doubt", async () => {
    const [store, call] = [make(), callOf()];
    const now = 1_767_225_600_000;
    const payload = await payloadOf(call);
    await store.claim({ key: call.idempotencyKey, payload, by: "a-process-that-died.1", at: new Date(now) });
    const at = (ms: number) => remember(store, call, never, { now: () => now + ms });
    expect(code(await at(119_999))).toBe("in_progress");
    expect(code(await at(120_000))).toBe("in_doubt");
  });
}

/** payloadOf reads what a claim of this call says. */
async function payloadOf(call: ReturnType<typeof callOf>): Promise<string> {
  const store = new MemoryStore();
  await remember(store, call, () => json(200));
  return (await store.claim({ key: call.idempotencyKey, payload: "", by: "", at: new Date() }))?.payload as string;
}
