import { createMCPClient } from "@ai-sdk/mcp";
import { generateText } from "ai";
import { callsTools } from "../support/model.js";
import { type Door, playsFirstCalls } from "./firstcalls.js";

const connect = ({ url, token }: Door) => createMCPClient({ transport: { type: "http", url, headers: { Authorization: `Bearer ${token}` } } });

playsFirstCalls("@ai-sdk/mcp", {
  shown: async (door) => Object.entries(await (await connect(door)).tools()).map(([name, tool]) => ({ name, description: (tool as { description?: string }).description ?? "", schema: tool.inputSchema })),
  call: async (door, name, args) => {
    const model = callsTools([{ name, args }]);
    const stopWhen = ({ steps }: { steps: unknown[] }) => steps.length === 2;
    await generateText({ model: model as never, prompt: "go on", tools: (await (await connect(door)).tools()) as never, stopWhen });
    return model.told()[0];
  },
});
