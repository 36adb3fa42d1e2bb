// The OpenAI Agents SDK with the real package: runs, and interruptions that a person's decision ends.
import { Agent, type Model, type ModelRequest, RunContext, Runner, RunState } from "@openai/agents";
import { expect, test } from "vitest";
import { openaiTools } from "../../src/adapters/openai-agents.js";
import { calls, cut, said, schema, toolsOf } from "../support/door.js";

const args = { orderId: "A-1", amount: 64.5 };
const runner = new Runner({ tracingDisabled: true });

/** scripted calls refund with this text, and says what it was told. */
function scripted(text: string): Model {
  const response = async ({ input }: ModelRequest) => {
    const result = Array.isArray(input) ? input.filter((item) => item.type === "function_call_result").at(-1) : undefined;
    const said = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: JSON.stringify(result) }] };
    const call = { type: "function_call", callId: "1", name: "refund", status: "completed", arguments: text };
    return { usage: { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }, output: [result ? said : call] };
  };
  return { getResponse: response, getStreamedResponse: () => { throw new Error("it isn't streamed"); } } as unknown as Model;
}

const agentOf = (tools: Parameters<typeof openaiTools>[0], text: string, interrupt = false) =>
  new Agent({ name: "Refunder", model: scripted(text), tools: openaiTools(tools, { interrupt }) });

test("a call is sent with the model's own text, so that numbers keep their digits", async () => {
  const { tools, seen } = await toolsOf(said("DONE"));
  const [tool] = openaiTools(tools);
  expect(tool).toMatchObject({ type: "function", name: "refund", parameters: schema, strict: false });
  expect(await tool?.invoke(new RunContext(), '{"orderId":"A-1","amount":0.12345678901234567890}')).toContain("DONE");
  expect(seen[1]?.body).toContain('"amount":0.12345678901234567890');
});

test.each(["{", "null"])("text that is no object is told, with an interruption or without: %s", async (text) => {
  const { tools } = await toolsOf(cut);
  for (const interrupt of [false, true]) expect(await openaiTools(tools, { interrupt })[0]?.invoke(new RunContext(), text)).toContain("must be an object");
});

test.each(['{"orderId":"A-1","amount":1}', "[1]"])("whatever goes wrong is told to the model, and its run goes on: %s", async (text) => {
  const { tools } = await toolsOf(cut);
  const { finalOutput } = await runner.run(agentOf(tools, text), "pay it back");
  expect(finalOutput).toContain(text.startsWith('{"') ? "make the very same call again" : "");
});

test("a cancelled call is thrown", async () => {
  const { tools } = await toolsOf(said("DONE"));
  const [tool] = openaiTools(tools);
  await expect(tool?.invoke(new RunContext(), "{}", { signal: AbortSignal.abort() } as never)).rejects.toThrow();
});

test("a call that waits for a person is an interruption, which outlives the process and ends with what was decided", async () => {
  const waits = said("WAITING_FOR_A_PERSON");
  const { tools, seen } = await toolsOf(waits, said("REFUSED", { suggestedInput: { amount: 60 } }));
  const agent = agentOf(tools, JSON.stringify({ ...args, again: "twice" }), true);
  const first = await runner.run(agent, "pay it back");
  expect(first.interruptions).toHaveLength(1);

  const state = await RunState.fromString(agent, JSON.stringify(first.state));
  for (const interruption of state.getInterruptions()) state.approve(interruption);
  const { finalOutput } = await runner.run(agent, state);
  expect(finalOutput).toContain("suggestedInput");
  for (const call of calls(seen)) expect(call).toEqual(["refund", args]);
});

test("what needs nobody interrupts nothing", async () => {
  const { tools } = await toolsOf(said("DONE"));
  const { interruptions, finalOutput } = await runner.run(agentOf(tools, JSON.stringify(args), true), "pay it back");
  expect(interruptions).toEqual([]);
  expect(finalOutput).toContain("DONE");
});
