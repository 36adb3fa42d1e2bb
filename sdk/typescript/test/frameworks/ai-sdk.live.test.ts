import { generateText } from "ai";
import { aiTools } from "../../src/adapters/ai-sdk.js";
import { answerIn } from "../support/desk.js";
import { callsTools } from "../support/model.js";
import { playsAdapter } from "./adapters.js";
import { type Played, playsLive } from "./played.js";

const played: Played = {
  turn: async (tools, calls, { wait, signal } = {}) => {
    const model = callsTools(calls);
    const stopWhen = ({ steps }: { steps: unknown[] }) => steps.length === 2; // once it was told
    await generateText({ model: model as never, prompt: "go on", tools: aiTools(tools, { wait }), stopWhen, abortSignal: signal });
    return model.told();
  },
  // It has nothing to sleep by: the model ends its turn, and asks for the run in a later one.
  sleeps: async (tools, call) => {
    const model = callsTools([call]);
    const stopWhen = ({ steps }: { steps: unknown[] }) => steps.length === 2;
    await generateText({ model: model as never, prompt: "go on", tools: aiTools(tools), stopWhen });
    const runId = answerIn(model.told()[0]).runId as string;
    return {
      runId,
      goOn: async (now) => {
        const later = callsTools([{ name: "run_status", args: { runId } }]);
        await generateText({ model: later as never, prompt: "go on", tools: aiTools(now), stopWhen });
        return later.told()[0];
      },
    };
  },
};

playsLive("AI SDK", played);
if (process.env.COUNTERSIGN_FIRST_CALLS) playsAdapter("AI SDK", played);
