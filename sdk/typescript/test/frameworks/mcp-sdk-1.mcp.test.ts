import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type Door, playsFirstCalls } from "./firstcalls.js";

const connect = async ({ url, token }: Door) => {
  const client = new Client({ name: "first-calls", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }) as never);
  return client;
};

playsFirstCalls("@modelcontextprotocol/sdk 1", {
  shown: async (door) => (await (await connect(door)).listTools()).tools.map(({ name, description = "", inputSchema: schema }) => ({ name, description, schema })),
  // What hosts give to a model: the text.
  call: async (door, name, args) => ((await (await connect(door)).callTool({ name, arguments: args })).content as { text: string }[]).map(({ text }) => text).join(""),
});
