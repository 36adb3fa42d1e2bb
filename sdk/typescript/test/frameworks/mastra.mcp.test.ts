import { Agent } from "@mastra/core/agent";
import { MCPClient } from "@mastra/mcp";
import { callsTools } from "../support/model.js";
import { type Door, playsFirstCalls } from "./firstcalls.js";

let clients = 0;
const connect = ({ url, token }: Door) => new MCPClient({ id: String(clients++), servers: { desk: { url: new URL(url), requestInit: { headers: { Authorization: `Bearer ${token}` } } } } });

playsFirstCalls("@mastra/mcp", {
  shown: async (door) => Object.entries(await connect(door).listTools()).map(([name, { description = "", inputSchema: schema }]) => ({ name, description, schema })),
  call: async (door, name, args) => {
    const model = callsTools([{ name, args }]);
    await new Agent({ id: "clerk", name: "Clerk", instructions: "go on", model: model as never, tools: (await connect(door).listTools()) as never }).generate("go on");
    return model.told()[0];
  },
});
