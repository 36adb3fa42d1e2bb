// What happens on the wire: refusals, broken answers, repeats, and what never leaves.
import type { IncomingMessage, ServerResponse } from "node:http";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Countersign, CountersignConnectionError, CountersignError, type CountersignOptions as Options, rawJson } from "../src/index.js";
import { serve } from "./support/http.js";

const token = "csn_a-token-that-must-not-show";

type Reply = (res: ServerResponse, req: IncomingMessage) => void;

/** scripted answers each request by the next reply, the last for ever. */
async function scripted(replies: Reply[], options: Partial<Options> = {}): Promise<{ cs: Countersign; seen: { method?: string; url?: string; headers: IncomingMessage["headers"]; body: string }[] }> {
  const seen: { method?: string; url?: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  const baseUrl = await serve(async (req, res) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    seen.push({ method: req.method, url: req.url, headers: req.headers, body });
    replies[Math.min(seen.length, replies.length) - 1]?.(res, req);
  });
  return { cs: new Countersign({ baseUrl, token, timeoutMs: 10_000, ...options }), seen };
}

const answering = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => (res) => {
  res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(typeof body === "string" ? body : JSON.stringify(body));
};
const cut: Reply = (res) => res.destroy();
const refused = (status: number, error: string) => answering(status, { error, message: `it is ${error}`, requestId: "req-12345678" });
const busy = answering(503, { error: "capacity", message: "full", requestId: "req-12345678" }, { "Retry-After": "0" });
const run = answering(202, { id: "run-1", idempotencyKey: "k" });

test("a refusal says code, status, message and request id", async () => {
  const { cs } = await scripted([refused(409, "drift")]);
  const error = await cs.plan("p").catch((e: unknown) => e);
  expect(error).toBeInstanceOf(CountersignError);
  expect(error).toMatchObject({ code: "drift", status: 409, message: "it is drift", requestId: "req-12345678" });
});

test.each([
  ["a redirect", answering(307, "", { Location: "http://127.0.0.1:9/elsewhere" })],
  ["a page of a proxy", answering(502, "<h1>Bad gateway</h1>")],
  ["a refusal without our body", answering(403, { detail: "no" })],
  ["an answer that is no JSON", answering(200, "{")],
  ["an answer that is no UTF-8", (res: ServerResponse) => void res.end(Buffer.from([0x22, 0xff, 0x22]))],
  ["an answer that is too large", answering(200, JSON.stringify("x".repeat(2000)))],
  ["an answer that is cut off", (res: ServerResponse) => void res.writeHead(200, { "Content-Length": "100" }).write("{", () => res.destroy())],
  ["no answer", cut],
])("%s says nothing of the outcome", async (_, reply) => {
  const { cs, seen } = await scripted([reply], { maxAnswerBytes: 1000 });
  const error = await cs.createPlan({ name: "p", modelId: "m", modelRevision: 1, steps: [] }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(CountersignConnectionError);
  expect(seen).toHaveLength(1); // a write is not sent again
});

test("an answer that doesn't come in time is given up", async () => {
  const { cs } = await scripted([() => {}], { timeoutMs: 5_000, retries: 0 });
  await expect(cs.health()).rejects.toThrow("no whole answer in time");
});

test("reads are repeated after a broken connection, as often as asked", async () => {
  const { cs, seen } = await scripted([cut, cut, answering(200, { status: "ok" })]);
  expect((await cs.health()).status).toBe("ok");
  expect(seen).toHaveLength(3);
  const { cs: once, seen: single } = await scripted([cut], { retries: 0 });
  await expect(once.health()).rejects.toBeInstanceOf(CountersignConnectionError);
  expect(single).toHaveLength(1);
});

test("a run start is repeated under one key, which is the caller's or ours", async () => {
  const { cs, seen } = await scripted([cut, run]);
  await cs.startRun({ planId: "p" });
  expect(seen[0]?.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(seen[1]?.headers["idempotency-key"]).toBe(seen[0]?.headers["idempotency-key"]);
  const own = await scripted([cut]);
  const error = await own.cs.startTeamRun("t", { expectedRevision: 1 }, { idempotencyKey: "intent-7" }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(CountersignConnectionError);
  expect(error).toMatchObject({ idempotencyKey: "intent-7" });
  expect(own.seen.map(({ headers }) => headers["idempotency-key"])).toEqual(["intent-7", "intent-7", "intent-7"]);
});

test("a 503 that says when is repeated, for writes too; one that says too late is not", async () => {
  const { cs, seen } = await scripted([busy, answering(201, { id: "p" })]);
  await cs.createPlan({ name: "p", modelId: "m", modelRevision: 1, steps: [] });
  expect(seen).toHaveLength(2);
  const late = await scripted([answering(503, { error: "capacity", message: "full" }, { "Retry-After": "3600" })]);
  await expect(late.cs.startRun({ planId: "p" })).rejects.toMatchObject({ code: "capacity", retryAfter: 3600 });
  expect(late.seen).toHaveLength(1);
});

test("other refusals are not repeated", async () => {
  const { cs, seen } = await scripted([refused(500, "internal")]);
  await expect(cs.health()).rejects.toMatchObject({ code: "internal" });
  expect(seen).toHaveLength(1);
});

test("a redirect takes the token nowhere", async () => {
  const elsewhere: unknown[] = [];
  const other = await serve((req, res) => { elsewhere.push(req.headers); res.end("{}"); });
  const { cs } = await scripted([answering(302, "", { Location: other })], { retries: 0 });
  await expect(cs.health()).rejects.toThrow("redirect");
  expect(elsewhere).toEqual([]);
});

test("paths are escaped, and ids can't climb out of them", async () => {
  const { cs, seen } = await scripted([answering(200, {})]);
  await cs.saveUser("a/b?c@example.org", { roles: ["VIEWER"] });
  expect(seen[0]?.url).toBe("/api/runtime/v1/users/a%2Fb%3Fc%40example.org");
  for (const bad of ["", ".", ".."]) expect(() => cs.run(bad)).toThrow(TypeError);
});

test("raw JSON is sent as it stands; numbers that JavaScript would round are refused", async () => {
  const { cs, seen } = await scripted([run]);
  const text = '{"expectedRevision":1,"capability":"pay","inputs":{"cents":12345678901234567890}}';
  await cs.startAgentRun("a", rawJson(text));
  expect(seen[0]?.body).toBe(text);
  for (const bad of [2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    await expect(cs.startAgentRun("a", { expectedRevision: 1, capability: "pay", inputs: { cents: bad } })).rejects.toBeInstanceOf(TypeError);
  }
  expect(() => rawJson("{")).toThrow(SyntaxError);
  expect(seen).toHaveLength(1);
});

test("the token shows in no error and no print", async () => {
  const { cs } = await scripted([cut], { retries: 0 });
  const broken = new Countersign({ baseUrl: "http://127.0.0.1:9", token, retries: 0, fetch: async () => Promise.reject(new Error(`Bearer ${token}`)) });
  const errors = await Promise.all([cs.health(), cs.startRun({ planId: "p" }), broken.health()].map((call) => call.catch((e: unknown) => e)));
  for (const thing of [cs, broken, ...errors]) {
    expect(inspect(thing, { depth: 20, showHidden: true })).not.toContain(token);
    expect(JSON.stringify(thing)).not.toContain(token);
  }
  expect(() => new Countersign({ baseUrl: "http://127.0.0.1:9", token: `${token}\n` })).toThrow(expect.not.stringContaining(token));
});

test("a caller's signal ends a request and its repeats", async () => {
  const { cs } = await scripted([cut]);
  await expect(cs.health({ signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
});

test.each([
  ["http://countersign.example", "https"],
  ["ftp://127.0.0.1", "http or https"],
  ["countersign.example", "http or https"],
  ["https://countersign.example/v1", "prefix"],
  ["https://user:word@countersign.example", "origin only"],
])("the base URL %s is refused", (baseUrl, why) => {
  expect(() => new Countersign({ baseUrl, token })).toThrow(why);
});

test.each([["https://countersign.example"], ["http://localhost:8080"], ["http://127.0.0.1:8080/"], ["http://[::1]:8080"]])("the base URL %s is taken", (baseUrl) => {
  expect(() => new Countersign({ baseUrl, token })).not.toThrow();
  expect(() => new Countersign({ baseUrl: "http://countersign.example", token, allowInsecure: true })).not.toThrow();
});

test.each([["no-slash"], ["/a/../b"], ["/a?b"], ["//elsewhere.example/"]])("the prefix %s is refused", (prefix) => {
  expect(() => new Countersign({ baseUrl: "https://countersign.example", token, prefix })).toThrow("prefix");
});
