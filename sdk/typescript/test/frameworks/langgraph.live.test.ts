import { AIMessage } from "@langchain/core/messages";
import { Command, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { type LanggraphOptions, langgraphTools } from "../../src/adapters/langgraph.js";
import type { Tools } from "../../src/index.js";
import { playsAdapter } from "./adapters.js";
import { type Asked, type Played, playsLive } from "./played.js";

const checkpointer = new MemorySaver();

/** graph has a model that makes these calls, and ends once it is told. */
function graph(tools: Tools, calls: Asked[], options: LanggraphOptions) {
  const asked = new AIMessage({ content: "", tool_calls: calls.map(({ name, args }, n) => ({ id: String(n), name, args })) });
  return new StateGraph(MessagesAnnotation)
    .addNode("model", () => ({ messages: [asked] }))
    .addNode("tools", new ToolNode(langgraphTools(tools, options)))
    .addEdge(START, "model")
    .addEdge("model", "tools")
    .addEdge("tools", END)
    .compile({ checkpointer });
}

let threads = 0;
const thread = () => ({ configurable: { thread_id: String(threads++) } });

const played: Played = {
  turn: async (tools, calls, { wait, signal } = {}) => {
    const { messages } = await graph(tools, calls, { wait }).invoke({ messages: [] }, { ...thread(), signal });
    return messages.slice(-calls.length).map(({ content }) => content);
  },
  sleeps: async (tools, call) => {
    const config = thread();
    await graph(tools, [call], { interrupt }).invoke({ messages: [] }, config);
    const [waits] = (await graph(tools, [call], { interrupt }).getState(config)).tasks.flatMap((task) => task.interrupts);
    const kept = JSON.parse(JSON.stringify(waits?.value));
    return {
      runId: kept.runId,
      goOn: async (now) => (await graph(now, [call], { interrupt }).invoke(new Command({ resume: kept }), config)).messages.at(-1)?.content,
    };
  },
};

playsLive("LangGraph.js", played);
if (process.env.COUNTERSIGN_FIRST_CALLS) playsAdapter("LangGraph.js", played);
