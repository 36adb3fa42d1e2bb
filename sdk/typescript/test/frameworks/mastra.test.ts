// Mastra with the real package: an agent that is told, and one that sleeps until a person has decided.
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { expect, test } from "vitest";
import { mastraTools } from "../../src/adapters/mastra.js";
import { calls, cut, said, toolsOf } from "../support/door.js";
import { callsRefund } from "../support/model.js";

const args = { orderId: "A-1", amount: 64.5 };

function agentOf(tools: ReturnType<typeof mastraTools>, model = callsRefund(args)) {
  const agent = new Agent({ id: "refunder", name: "Refunder", instructions: "pay back", model: model as never, tools });
  const mastra = new Mastra({ agents: { agent }, storage: new InMemoryStore({ id: "store" } as never), logger: false });
  return mastra.getAgent("agent");
}

test("a model is told the door's answer, and is shown the door's schema", async () => {
  const { tools, seen } = await toolsOf(said("DONE"));
  const model = callsRefund(args);
  const { text } = await agentOf(mastraTools(tools), model).generate("pay it back");
  expect(text).toContain("DONE");
  expect(model.seen[0]?.tools[0]).toMatchObject({ name: "refund", description: "Pays back." });
  expect(calls(seen)).toEqual([["refund", args]]);
});

test("no answer is told, and its run goes on", async () => {
  const { tools } = await toolsOf(cut);
  expect((await agentOf(mastraTools(tools)).generate("pay it back")).text).toContain("make the very same call again");
});

test("arguments that the schema doesn't take are the door's to refuse", async () => {
  const { tools, seen } = await toolsOf(said("REFUSED"));
  await agentOf(mastraTools(tools), callsRefund({ orderId: 1 })).generate("pay it back");
  expect(calls(seen)).toEqual([["refund", { orderId: 1 }]]);
});

test.each(["as they are", "by createTool"])("a call that waits for a person suspends the agent, which goes on with what was decided: %s", async (how) => {
  const { tools, seen } = await toolsOf(said("WAITING_FOR_A_PERSON"), said("DONE"));
  const made = mastraTools(tools, { suspend: true });
  const agent = agentOf(how === "as they are" ? made : (Object.fromEntries(Object.entries(made).map(([name, tool]) => [name, createTool(tool as never)])) as never));
  const first = await agent.generate("pay it back");
  expect(first.finishReason).toBe("suspended");
  const waits = (first.suspendPayload as { suspendPayload: { runId: string } }).suspendPayload;
  expect(waits).toMatchObject({ runId: "run-1", tool: "refund", arguments: args });
  const { text } = await agent.resumeGenerate(waits, { runId: first.runId as string });
  expect(text).toContain("DONE");
  expect(calls(seen)).toEqual([["refund", args], ["run_status", { runId: "run-1" }]]);
});
