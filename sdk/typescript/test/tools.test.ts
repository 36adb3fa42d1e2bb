// An agent's tools: as the door lists them, called in the flat form, also by way of frameworks.
import type { IncomingMessage, ServerResponse } from "node:http";
import { AIMessage } from "@langchain/core/messages";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { RunContext } from "@openai/agents";
import { generateText } from "ai";
import { MockLanguageModelV2 } from "ai/test";
import { expect, test } from "vitest";
import { aiTools } from "../src/adapters/ai-sdk.js";
import { langgraphTools } from "../src/adapters/langgraph.js";
import { openaiTools } from "../src/adapters/openai-agents.js";
import { type Arguments, Countersign, CountersignConnectionError, type Tool, ToolError } from "../src/index.js";
import { serve } from "./support/http.js";
import { projectId, registerShop, startService } from "./support/service.js";
import { startShop } from "./support/shop.js";

const schema = {
  type: "object",
  properties: { orderId: { type: "string" }, amount: { type: "number" }, task: { type: "string" }, again: { type: "string" } },
  required: ["orderId", "amount"],
  additionalProperties: false,
};
const refund = { name: "refund", title: "Refund", description: "Pays back.", inputSchema: schema, annotations: { readOnlyHint: false } };
const status = { name: "run_status", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };

type Reply = (res: ServerResponse) => void;

const answering = (value: unknown, code = 200): Reply => (res) => {
  res.writeHead(code, { "Content-Type": "application/json" }).end(typeof value === "string" ? value : JSON.stringify(value));
};
const rpc = (result: unknown) => answering({ jsonrpc: "2.0", id: 1, result });
const done = (text: string) => rpc({ content: [{ type: "text", text }], structuredContent: JSON.parse(text) });
const list = rpc({ tools: [refund] });
const cut: Reply = (res) => res.destroy();

/** door answers each request by the next reply. */
async function door(...replies: Reply[]): Promise<{ cs: Countersign; seen: { path?: string; accept?: string; body: string }[] }> {
  const seen: { path?: string; accept?: string; body: string }[] = [];
  const baseUrl = await serve(async (req: IncomingMessage, res) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    seen.push({ path: req.url, accept: req.headers.accept, body });
    replies[Math.min(seen.length, replies.length) - 1]?.(res);
  });
  return { cs: new Countersign({ baseUrl, token: "csn_agent" }), seen };
}

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

test("LangGraph's node calls them", async () => {
  const { cs, seen } = await door(list, done('{"outcome":"DONE"}'));
  const node = new ToolNode(langgraphTools(await cs.tools("agt-1")));
  const asks = new AIMessage({ content: "", tool_calls: [{ id: "1", name: "refund", args: { orderId: "A-1", amount: 64.5 } }] });
  const { messages } = await node.invoke({ messages: [asks] });
  expect(messages[0].content).toBe('{"outcome":"DONE"}');
  expect(seen[1]?.body).toContain('"arguments":{"orderId":"A-1","amount":64.5}');
});

test("the OpenAI Agents SDK calls them with the model's own text", async () => {
  const { cs, seen } = await door(list, done('{"outcome":"DONE"}'));
  const [tool] = openaiTools(await cs.tools("agt-1"));
  expect(tool).toMatchObject({ type: "function", name: "refund", parameters: schema, strict: false });
  expect(await tool?.invoke(new RunContext(), '{"orderId":"A-1","amount":0.12345678901234567890}')).toBe('{"outcome":"DONE"}');
  expect(seen[1]?.body).toContain('"amount":0.12345678901234567890}');
});

test("the Vercel AI SDK calls them", async () => {
  const { cs, seen } = await door(list, done('{"outcome":"DONE"}'));
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const model = new MockLanguageModelV2({
    doGenerate: async () => ({ content: [{ type: "tool-call", toolCallId: "1", toolName: "refund", input: '{"orderId":"A-1","amount":64.5}' }], finishReason: "tool-calls", usage, warnings: [] }),
  });
  const { toolResults } = await generateText({ model, prompt: "pay it back", tools: aiTools(await cs.tools("agt-1")) });
  expect(toolResults[0]).toMatchObject({ toolName: "refund", output: { outcome: "DONE" } });
  expect(model.doGenerateCalls[0]?.tools?.[0]).toMatchObject({ name: "refund", inputSchema: schema });
  expect(seen[1]?.body).toContain('"arguments":{"orderId":"A-1","amount":64.5}');
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
  expect(await read?.call({ orderId: "A-48213" })).toMatchObject({ outcome: "DONE" });
  for (const tool of Object.values(aiTools([read as Tool]))) expect(tool.description).toBe(read?.description);
});
