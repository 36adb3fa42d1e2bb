// LangGraph.js with the real package: what a model is told, and a graph that sleeps until a person has decided.
import { AIMessage } from "@langchain/core/messages";
import { Command, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { expect, test } from "vitest";
import { langgraphTools } from "../../src/adapters/langgraph.js";
import { calls, cut, said, toolsOf } from "../support/door.js";

const args = { orderId: "A-1", amount: 64.5 };
const asks = (given: object = args, id = "1") => ({ id, name: "refund", args: given as Record<string, unknown> });

async function told(tools: Awaited<ReturnType<typeof toolsOf>>["tools"], given: object): Promise<string> {
  const { messages } = await new ToolNode(langgraphTools(tools)).invoke({ messages: [new AIMessage({ content: "", tool_calls: [asks(given)] })] });
  return messages[0].content;
}

test("a node calls the door and tells the model its answer", async () => {
  const { tools, seen } = await toolsOf(said("DONE"));
  expect(JSON.parse(await told(tools, args))).toMatchObject({ outcome: "DONE" });
  expect(calls(seen)).toEqual([["refund", args]]);
});

test("no answer is told in words that keep the model from doing it in another way", async () => {
  const { tools } = await toolsOf(cut);
  expect(await told(tools, args)).toContain("make the very same call again");
});

test("arguments that the schema doesn't take are the door's to refuse", async () => {
  const { tools, seen } = await toolsOf(said("REFUSED"));
  expect(await told(tools, { orderId: 1 })).toContain("REFUSED");
  expect(calls(seen)).toEqual([["refund", { orderId: 1 }]]);
  expect(langgraphTools(tools)[0]?.schema).toEqual(tools[0]?.schema);
});

test("a cancelled call is thrown", async () => {
  const { tools } = await toolsOf(said("DONE"));
  await expect(langgraphTools(tools)[0]?.invoke(args, { signal: AbortSignal.abort() })).rejects.toThrow();
});

function graph(tools: Parameters<typeof langgraphTools>[0], ...toolCalls: ReturnType<typeof asks>[]) {
  return new StateGraph(MessagesAnnotation)
    .addNode("model", () => ({ messages: [new AIMessage({ content: "", tool_calls: toolCalls })] }))
    .addNode("tools", new ToolNode(langgraphTools(tools, { interrupt })))
    .addEdge(START, "model")
    .addEdge("model", "tools")
    .addEdge("tools", END)
    .compile({ checkpointer: new MemorySaver() });
}

test("a call that waits for a person suspends the graph, which goes on with what was decided", async () => {
  const waits = said("WAITING_FOR_A_PERSON", { url: "https://c/console/approvals/1" });
  const { tools, seen } = await toolsOf(waits, waits, said("DONE"));
  const agent = graph(tools, asks({ ...args, again: "twice" }));
  const config = { configurable: { thread_id: "t" } };

  await agent.invoke({ messages: [] }, config);
  const suspended = async () => (await agent.getState(config)).tasks.flatMap((task) => task.interrupts)[0]?.value;
  const first = await suspended();
  expect(first).toEqual({ runId: "run-1", url: "https://c/console/approvals/1", message: expect.any(String), tool: "refund", arguments: args });

  await agent.invoke(new Command({ resume: first }), config); // too early: nobody has decided
  const { messages } = await agent.invoke(new Command({ resume: await suspended() }), config);
  expect(JSON.parse(messages.at(-1)?.content as string)).toMatchObject({ outcome: "DONE" });
  expect(calls(seen)).toEqual([["refund", args], ["run_status", { runId: "run-1" }], ["run_status", { runId: "run-1" }]]);
});

test("what resumes another call of the node is not taken for this one's", async () => {
  const { tools, seen } = await toolsOf(said("DONE"), said("WAITING_FOR_A_PERSON", { runId: "run-2" }), said("DONE"), said("DONE", { runId: "run-2" }));
  const other = { orderId: "B-2", amount: 1 };
  const agent = graph(tools, asks(), asks(other, "2"));
  const config = { configurable: { thread_id: "t" } };
  await agent.invoke({ messages: [] }, config);
  const [waits] = (await agent.getState(config)).tasks.flatMap((task) => task.interrupts);
  await agent.invoke(new Command({ resume: waits?.value }), config);
  for (const [name, given] of calls(seen)) if (name === "refund") expect([args, other]).toContainEqual(given);
  expect(calls(seen).filter(([name]) => name === "run_status")).toEqual([]);
  expect((await agent.getState(config)).next).toEqual([]);
});
