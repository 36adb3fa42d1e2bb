import { Agent, type Model, type ModelRequest, Runner, RunState } from "@openai/agents";
import { type OpenAIOptions, openaiTools } from "../../src/adapters/openai-agents.js";
import type { Tools } from "../../src/index.js";
import { playsAdapter } from "./adapters.js";
import { type Asked, type Played, playsLive } from "./played.js";

const runner = new Runner({ tracingDisabled: true });

/** agentOf has a model that makes these calls, and repeats what it is told of them. */
function agentOf(tools: Tools, calls: Asked[], options: OpenAIOptions) {
  const response = async ({ input }: ModelRequest) => {
    const results = Array.isArray(input) ? input.filter((item) => item.type === "function_call_result") : [];
    const said = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: JSON.stringify(results.map(({ output }) => output)) }] };
    const asked = calls.map(({ name, args }, n) => ({ type: "function_call", callId: String(n), name, status: "completed", arguments: JSON.stringify(args) }));
    return { usage: { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }, output: results.length > 0 ? [said] : asked };
  };
  const model = { getResponse: response, getStreamedResponse: () => { throw new Error("it isn't streamed"); } } as unknown as Model;
  return new Agent({ name: "Clerk", model, tools: openaiTools(tools, options) });
}

const told = ({ finalOutput }: { finalOutput?: unknown }): unknown[] => JSON.parse(finalOutput as string);

const played: Played = {
  turn: async (tools, calls, { wait, signal } = {}) => told(await runner.run(agentOf(tools, calls, { wait, signal }), "go on", { signal })),
  sleeps: async (tools, call) => {
    const first = await runner.run(agentOf(tools, [call], { interrupt: true }), "go on");
    const kept = JSON.stringify(first.state);
    const waits = JSON.parse(await (tools.named(call.name)).tell(call.args)); // an interruption has the call, and the call its run
    return {
      runId: waits.runId,
      goOn: async (now) => {
        const agent = agentOf(now, [call], { interrupt: true });
        const state = await RunState.fromString(agent, kept);
        for (const interruption of state.getInterruptions()) state.approve(interruption);
        return told(await runner.run(agent, state))[0];
      },
    };
  },
};

playsLive("OpenAI Agents", played);
if (process.env.COUNTERSIGN_FIRST_CALLS) playsAdapter("OpenAI Agents", played);
