// Signed answers and statements: the vectors of the Go kit, and what a receiver does with a key.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { answerHeader, answerKeyId, answerKeyText, json, type Known, MemoryStore, nodeHandler, parseAnswerKey, signAnswer, statementText, verifyAnswer } from "../../src/receiver/index.js";
import { serve } from "../support/http.js";
import { call, secret } from "./sign.js";

interface AnswerVector { name: string; idempotencyKey: string; timestamp: string; method: string; target: string; bodyBase64: string; status: number; answerBase64: string; at: number; headers: string[]; valid: boolean }
interface StatementVector { name: string; key: string; state: Known; status: number; bodyBase64: string; at: number; since: number; statement: string }
interface FateVector { status: number; kept: boolean; signed: boolean; state: Known }
interface Vectors { seed: string; publicKey: string; keyId: string; answers: AnswerVector[]; fates: FateVector[]; statements: StatementVector[] }

const vectors: Vectors = JSON.parse(readFileSync(new URL("../../../../receiver/testdata/answer-vectors.json", import.meta.url), "utf8"));
const key = parseAnswerKey(vectors.seed);
const bytes = (base64: string) => Buffer.from(base64, "base64");

test("the key has the text and the id of the vectors", () => {
  expect(answerKeyText(key)).toBe(vectors.publicKey);
  expect(answerKeyId(vectors.publicKey)).toBe(vectors.keyId);
  expect(() => parseAnswerKey("ab")).toThrow("64 hex digits");
});

test.each(vectors.answers)("answer: $name", (v) => {
  const parts = { idempotencyKey: v.idempotencyKey, timestamp: v.timestamp, method: v.method, target: v.target, body: bytes(v.bodyBase64), status: v.status, answer: bytes(v.answerBase64) };
  expect(verifyAnswer([vectors.publicKey], parts, v.headers)).toEqual(v.valid ? { keyId: vectors.keyId, at: v.at } : undefined);
  if (v.valid) expect(signAnswer(key, parts, v.at)).toBe(v.headers[0]);
});

test.each(vectors.statements)("statement: $name", (v) => {
  const answer = { status: v.status, contentType: "", body: bytes(v.bodyBase64) };
  expect(Buffer.from(statementText({ key: v.key, state: v.state, answer, at: new Date(v.at), since: new Date(v.since) })).toString()).toBe(v.statement);
});

/** receiver answers each side effect with the status that its path names. */
async function receiver(store = new MemoryStore(), now?: () => number) {
  let effects = 0;
  const options = { secrets: [secret], store, answerKey: key, settlement: "/settlement", ...(now && { now }) };
  const listener = nodeHandler(options, ({ target }) => ({ ...json(Number(target.slice(1)), { n: ++effects }), ...(target === "/204" && { body: new Uint8Array(), contentType: "" }) }));
  return { origin: await serve(listener), effects: () => effects };
}

type Answered = Awaited<ReturnType<typeof call>>;

function isSigned(method: string, target: string, idempotencyKey: string, timestamp: number, body: string, got: Answered): boolean {
  const header = got.headers.get(answerHeader);
  if (header === null) return false;
  const parts = { idempotencyKey, timestamp: String(timestamp), method, target, body: Buffer.from(body), status: got.status, answer: Buffer.from(got.text) };
  expect(verifyAnswer([vectors.publicKey], parts, [header])?.keyId).toBe(vectors.keyId);
  return true;
}

describe("a receiver with an answer key", () => {
  const at = Math.floor(Date.now() / 1000);
  const ask = (origin: string, key: string) => call(origin, { method: "GET", target: `/settlement/${key}?sent=${at}`, key: `${key}~settle-1`, at });
  const withdraw = (origin: string, key: string) => call(origin, { method: "POST", target: `/settlement/${key}/withdraw?sent=${at}`, key: `${key}~withdraw`, at });

  test.each(vectors.fates)("keeps and signs $status as the vectors say", async ({ status, kept, signed, state }) => {
    const { origin } = await receiver();
    const got = await call(origin, { method: "POST", target: `/${status}`, body: "{}", key: "run-1.k", at });
    expect(got.status).toBe(status);
    expect(isSigned("POST", `/${status}`, "run-1.k", at, "{}", got)).toBe(signed);
    const said = await ask(origin, "run-1.k");
    expect(isSigned("GET", `/settlement/run-1.k?sent=${at}`, "run-1.k~settle-1", at, "", said)).toBe(true);
    expect(said.headers.get("Cache-Control")).toBe("no-store");
    expect(said.json().state).toBe(state);
    expect(said.json().statusCode === status).toBe(kept);
    const again = await call(origin, { method: "POST", target: `/${status}`, body: "{}", key: "run-1.k", at });
    expect(again.status).toBe(kept ? status : 409);
    expect(isSigned("POST", `/${status}`, "run-1.k", at, "{}", again)).toBe(signed);
  });

  test("withdraws what it never saw, and nothing else", async () => {
    const { origin, effects } = await receiver();
    expect((await ask(origin, "run-1.a")).json().state).toBe("UNSEEN");
    expect((await withdraw(origin, "run-1.a")).json().state).toBe("WITHDRAWN");
    expect((await ask(origin, "run-1.a")).json().state).toBe("WITHDRAWN");
    const late = await call(origin, { method: "POST", target: "/201", body: "{}", key: "run-1.a", at });
    expect([late.status, late.json().error]).toEqual([410, "key_withdrawn"]);
    expect(isSigned("POST", "/201", "run-1.a", at, "{}", late)).toBe(true);
    await call(origin, { method: "POST", target: "/201", body: "{}", key: "run-1.b", at });
    expect((await withdraw(origin, "run-1.b")).json().state).toBe("DONE");
    expect(effects()).toBe(1);
    for (const [method, target, status] of [["POST", "/settlement/run-1.c?sent=1", 405], ["GET", "/settlement/run-1.c/withdraw", 405], ["GET", "/settlement/run-1.c?sent=soon", 400], ["POST", "/settlement/~since/withdraw", 400], ["POST", "/settlement/a/b", 404]] as const) {
      expect((await call(origin, { method, target, key: "run-1.q", at })).status).toBe(status);
    }
  });

  test("takes calls 10 minutes after a restore", async () => {
    const store = new MemoryStore();
    await store.restored(new Date(at * 1000 - 599_000));
    const early = await receiver(store, () => at * 1000);
    const got = await call(early.origin, { method: "POST", target: "/201", body: "{}", key: "run-1.a", at });
    expect([got.status, got.headers.get("Retry-After"), got.headers.get(answerHeader)]).toEqual([503, "1", null]);
    expect((await ask(early.origin, "run-1.a")).json().state).toBe("UNSEEN");
    const later = await receiver(store, () => at * 1000 + 1000);
    expect((await call(later.origin, { method: "POST", target: "/201", body: "{}", key: "run-1.a", at })).status).toBe(201);
  });

  test("needs what a settlement rests on", () => {
    const handler = () => json(200);
    expect(() => createServer(nodeHandler({ secrets: [secret], store: new MemoryStore(), settlement: "/s" }, handler))).toThrow("it needs an answerKey");
    expect(() => createServer(nodeHandler({ secrets: [secret], store: { claim: handler, finish: handler, release: handler } as never, answerKey: key, settlement: "/s" }, handler))).toThrow("a store that is a Memory");
    expect(() => createServer(nodeHandler({ secrets: [secret], store: new MemoryStore(), answerKey: key, settlement: "s" }, handler))).toThrow("it is a path");
  });
});
