// The Vercel AI SDK with the real package.
import { generateText } from "ai";
import { expect, test } from "vitest";
import { aiTools } from "../../src/adapters/ai-sdk.js";
import type { Outcome } from "../../src/index.js";
import { callsRefund } from "../support/model.js";
import { calls, cut, said, schema, toolsOf } from "../support/door.js";

test("a model is shown the door's tools, and their answers are typed", async () => {
  const { tools, seen } = await toolsOf(said("DONE"));
  const model = callsRefund({ orderId: "A-1", amount: 64.5 });
  const { toolResults } = await generateText({ model: model as never, prompt: "pay it back", tools: aiTools(tools) });
  expect(toolResults[0]).toMatchObject({ toolName: "refund", output: { outcome: "DONE" } });
  expect(model.seen[0]?.tools[0]).toMatchObject({ name: "refund", description: "Pays back.", inputSchema: schema });
  expect(calls(seen)).toEqual([["refund", { orderId: "A-1", amount: 64.5 }]]);
});

test("no answer is a result that the model is told, not an error of its run", async () => {
  const { tools } = await toolsOf(cut);
  const { toolResults } = await generateText({ model: callsRefund({ orderId: "A-1", amount: 1 }) as never, prompt: "pay it back", tools: aiTools(tools) });
  const outcome: Outcome | undefined = (toolResults[0]?.output as { outcome: Outcome } | undefined)?.outcome;
  expect(outcome).toBe("UNKNOWN");
});

test("a call waits for a person as long as it is told", async () => {
  const { tools } = await toolsOf(said("WAITING_FOR_A_PERSON"), said("DONE"));
  const { toolResults } = await generateText({ model: callsRefund({ orderId: "A-1", amount: 1 }) as never, prompt: "pay it back", tools: aiTools(tools, { wait: 3600 }) });
  expect(toolResults[0]?.output).toMatchObject({ outcome: "DONE" });
});
