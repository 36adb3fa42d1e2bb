// An agent's tools: as the door lists them, called in the flat form.
import { expect, test } from "vitest";
import { type Arguments, Countersign, CountersignConnectionError, type Outcome, type Tool, ToolError } from "../src/index.js";
import { answering, calls, cut, done, door, list, refund, rpc, said, schema, status, toolsOf } from "./support/door.js";
import { projectId, registerShop, startService } from "./support/service.js";
import { startShop } from "./support/shop.js";

const first = async (cs: Countersign, rehearsal = false): Promise<Tool> => (await cs.tools("agt-1", { rehearsal }))[0] as Tool;

test("a tool is found by its capability and by its own name in what stays an array", async () => {
  const dotted = { name: "refunds_create_0f3c9a21", title: "refunds.create", inputSchema: schema };
  const { cs } = await door(rpc({ tools: [refund, dotted, status] }));
  const tools = await cs.tools("agt-1");
  expect(Array.isArray(tools)).toBe(true);
  expect(tools.map((tool) => tool.name)).toEqual(["refund", "refunds_create_0f3c9a21", "run_status"]);
  expect(tools.named("refunds.create")).toBe(tools[1]);
  expect(tools.named("refunds_create_0f3c9a21")).toBe(tools[1]);
  expect(Object.keys(tools)).toEqual(["0", "1", "2"]);
  expect(() => tools.named("refunds.creat")).toThrow(new RangeError("no tool refunds.creat; there are Refund, refunds.create, run_status"));
});

test("tools are listed over all pages with their schemas", async () => {
  const { cs, seen } = await door(rpc({ tools: [refund], nextCursor: "c" }), rpc({ tools: [status] }));
  const tools = await cs.tools("agt-1");
  expect(tools[0]).toMatchObject({ name: "refund", title: "Refund", description: "Pays back.", schema, readOnly: false });
  expect(tools[1]).toMatchObject({ name: "run_status", title: "run_status", readOnly: true });
  expect(seen.map(({ path }) => path)).toEqual(["/mcp/agents/agt-1", "/mcp/agents/agt-1"]);
  expect(JSON.parse(seen[1]?.body ?? "").params).toEqual({ cursor: "c" });
  expect(seen[0]?.accept).toBe("application/json, text/event-stream");
});

test.each([
  [false, "/mcp/agents/agt-1"],
  [true, "/mcp/agents/agt-1/rehearsal"],
])("a call sends its arguments flat to the door that was asked for: rehearsal %s", async (rehearsal, path) => {
  const { cs, seen } = await door(list, done('{"outcome":"DONE"}'));
  expect(await (await first(cs, rehearsal)).call({ orderId: "A-1", amount: 64.5, task: "t-1" })).toEqual({ outcome: "DONE" });
  expect(seen[1]?.path).toBe(path);
  expect(seen[1]?.body).toBe('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund","arguments":{"orderId":"A-1","amount":64.5,"task":"t-1"}}}');
});

test.each<[Arguments, string]>([
  ['{"amount": 12345678901234567890.10}', '"arguments":{"amount": 12345678901234567890.10}'],
  [{ amount: 64.5, lines: [{ price: 0.1 }] }, '"arguments":{"amount":64.5,"lines":[{"price":0.1}]}'],
  [" ", '"arguments":{}'],
])("numbers of a model keep their digits, and so do those of the answer: %j", async (args, sent) => {
  const { cs, seen } = await door(list, done('{"price":12345678901234567890.10}'));
  expect(await (await first(cs)).text(args)).toBe('{"price":12345678901234567890.10}');
  expect(seen[1]?.body).toContain(sent);
});

test.each<Arguments>([{ amount: 0.1 + 0.2 }, { amount: Number.NaN }, { lines: [2 ** 60] }, "[1]", "null", "{"])("what nobody knows the number of, or is no object, is refused before anything is sent: %j", async (args) => {
  const { cs, seen } = await door(list);
  const tool = await first(cs);
  await expect(tool.call(args)).rejects.toThrow();
  expect(seen).toHaveLength(1);
});

test("a call is sent again after a broken connection, but not one that asks again", async () => {
  const lost = await door(list, cut, done('{"outcome":"DONE"}'));
  expect(await (await first(lost.cs)).call({ orderId: "A-1", amount: 1 })).toEqual({ outcome: "DONE" });
  expect(lost.seen).toHaveLength(3);
  expect(lost.seen[2]?.body).toBe(lost.seen[1]?.body);
  for (const args of [{ again: "it came back twice" }, '{"\\u0061gain":"escaped"}']) {
    const once = await door(list, cut);
    const tool = await first(once.cs);
    await expect(tool.call(args)).rejects.toThrow(CountersignConnectionError);
    expect(once.seen).toHaveLength(2);
  }
});

test("a refusal is an answer for the model; what the door does not take is an error", async () => {
  const refusal = { error: "agent_not_admitted", message: "it is PENDING" };
  const wrong = answering({ jsonrpc: "2.0", id: 1, error: { code: -32602, message: "no such tool" } });
  const { cs } = await door(list, rpc({ isError: true, content: [{ type: "text", text: JSON.stringify(refusal) }] }), wrong, answering("[1]"));
  const tool = await first(cs);
  expect(await tool.call()).toEqual(refusal);
  await expect(tool.call()).rejects.toThrow(new ToolError(-32602, "no such tool"));
  await expect(tool.call()).rejects.toThrow(CountersignConnectionError);
});

test("the door of the service lists and answers", async () => {
  const shop = await startShop();
  const service = await startService(shop.url);
  await registerShop(service, shop.url);
  const agent = { externalAgentId: "tooled", sourceRevision: 1, name: "Tooled", role: "tests", goal: "it is called", capabilities: ["orders.read"] };
  const [made] = (await service.operator.syncAgents(projectId, { schemaVersion: "1.0", agents: [agent] })).items;
  const id = made?.id as string;
  await service.admin.admitAgent(id, { reason: "it is ours" });
  const { token } = await service.admin.createToken({ name: "tooled", roles: ["OPERATOR"], agentIds: [id] });
  const [read, look] = await service.client({ token }).tools(id);
  expect(read?.readOnly).toBe(true);
  expect(await look?.call({ runId: "run-none" })).toMatchObject({ error: "not_found" });
  const answer = await read?.call({ orderId: "A-48213" });
  const outcome: Outcome | undefined = answer?.outcome; // typed
  expect(outcome).toBe("DONE");
  expect(await read?.status(answer?.runId as string)).toContain('"outcome":"DONE"');
});

const args = { orderId: "A-1", amount: 1 };
const http = (code: number, error: string) => answering({ error, message: `it is ${error}`, requestId: "req-1" }, code);
const error = (code: number) => answering({ jsonrpc: "2.0", id: 1, error: { code, message: "no such tool" } });

test.each<[string, Parameters<typeof toolsOf>, Arguments, object]>([
  ["no answer", [cut], args, { outcome: "UNKNOWN", error: "no_answer", message: expect.stringContaining("make the very same call again, with the same arguments, which finds its run if it did") }],
  ["no answer to `again`", [cut], { ...args, again: "twice" }, { outcome: "UNKNOWN", error: "no_answer", message: expect.stringContaining("make the same call without again") }],
  ["something broken", [http(500, "internal")], args, { outcome: "UNKNOWN", error: "internal", requestId: "req-1", message: expect.stringContaining("nobody knows whether this call arrived") }],
  ["something broken inside", [error(-32603)], args, { outcome: "UNKNOWN", error: "internal" }],
  ["no room", [http(503, "unavailable")], args, { outcome: "REFUSED", error: "unavailable", requestId: "req-1", message: expect.stringContaining("make the very same call again later") }],
  ["a token that isn't taken", [http(401, "unauthenticated")], args, { outcome: "REFUSED", error: "unauthenticated", requestId: "req-1", message: expect.stringContaining("Nothing was sent") }],
  ["a tool that isn't there", [error(-32602)], args, { outcome: "REFUSED", error: "invalid_request", message: expect.stringContaining("no such tool") }],
  ["no object", [said("DONE")], "[1]", { outcome: "REFUSED", error: "invalid_arguments", message: expect.stringContaining("Nothing was sent, for a tool's arguments must be an object") }],
  ["a number that nobody knows", [said("DONE")], { amount: 0.1 + 0.2 }, { outcome: "REFUSED", error: "invalid_arguments", message: expect.stringContaining("arguments.amount") }],
])("a model is told what became of its call: %s", async (_, replies, given, answer) => {
  const { tools } = await toolsOf(...replies);
  const text = await tools.named("refund").tell(given);
  expect(JSON.parse(text)).toEqual({ ...unstarted, message: expect.any(String), ...answer });
});

const unstarted = { url: null, runId: null, startedAt: null, replayed: false };

test("a read and a rehearsal that got no answer have changed nothing", async () => {
  const { tools } = await toolsOf(cut);
  expect(await tools.named("run_status").tell({ runId: "run-1" })).toContain("nothing is changed by this call");
  const { cs } = await door(rpc({ tools: [refund] }), cut);
  expect(await (await cs.tools("agt-1", { rehearsal: true })).named("refund").tell(args)).toContain("nothing is changed by this call");
});

test("a cancellation is thrown, whenever it comes", async () => {
  const { tools } = await toolsOf(said("DONE"));
  const gone = new Error("the user left");
  await expect(tools.named("refund").tell(args, { signal: AbortSignal.abort(gone) })).rejects.toBe(gone);
});

test("a call waits for a person as long as it is told, and outlasts broken connections", async () => {
  const { tools, seen } = await toolsOf(said("WAITING_FOR_A_PERSON"), said("HELD"), cut, cut, cut, said("DONE"));
  expect(JSON.parse(await tools.named("refund").tell(args, { wait: 86_400 }))).toMatchObject({ outcome: "DONE" });
  expect(calls(seen)[1]).toEqual(["run_status", { runId: "run-1", waitSeconds: 50 }]);
  const impatient = await toolsOf(said("WAITING_FOR_A_PERSON"));
  expect(await impatient.tools.named("refund").tell(args)).toContain("WAITING_FOR_A_PERSON");
  expect(calls(impatient.seen)).toHaveLength(1);
});

test("an answer may take as long as the call said that it waits", async () => {
  const baseUrl = (await door(list, (res) => void setTimeout(() => said("DONE")(res), 600))).baseUrl;
  const [tool] = await new Countersign({ baseUrl, token: "csn_agent", timeoutMs: 300, retries: 0 }).tools("agt-1");
  await expect(tool?.call(args)).rejects.toThrow("no whole answer in time");
  expect(await tool?.call({ ...args, waitSeconds: 50 })).toMatchObject({ outcome: "DONE" });
});
