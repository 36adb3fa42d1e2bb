import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { type MastraOptions, mastraTools } from "../../src/adapters/mastra.js";
import type { Tools } from "../../src/index.js";
import { callsTools } from "../support/model.js";
import { playsAdapter } from "./adapters.js";
import { type Asked, type Played, playsLive } from "./played.js";

const storage = new InMemoryStore({ id: "store" } as never);

function agentOf(tools: Tools, calls: Asked[], options: MastraOptions) {
  const model = callsTools(calls);
  const agent = new Agent({ id: "clerk", name: "Clerk", instructions: "go on", model: model as never, tools: mastraTools(tools, options) });
  return { agent: new Mastra({ agents: { agent }, storage, logger: false }).getAgent("agent"), model };
}

const played: Played = {
  turn: async (tools, calls, { wait, signal } = {}) => {
    const { agent, model } = agentOf(tools, calls, { wait });
    await agent.generate("go on", { abortSignal: signal });
    return model.told();
  },
  sleeps: async (tools, call) => {
    const first = await agentOf(tools, [call], { suspend: true }).agent.generate("go on");
    const waits = JSON.parse(JSON.stringify((first.suspendPayload as { suspendPayload: { runId: string } }).suspendPayload));
    return {
      runId: waits.runId,
      goOn: async (now) => {
        const { agent, model } = agentOf(now, [call], { suspend: true });
        await agent.resumeGenerate(waits, { runId: first.runId as string });
        return model.told()[0];
      },
    };
  },
};

playsLive("Mastra", played);
if (process.env.COUNTERSIGN_FIRST_CALLS) playsAdapter("Mastra", played);
