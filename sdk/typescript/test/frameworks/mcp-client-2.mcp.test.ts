import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Door, playsFirstCalls } from "./firstcalls.js";

const connect = async ({ url, token }: Door, mode: "legacy" | "auto") => {
  const client = new Client({ name: "first-calls", version: "1" }, { versionNegotiation: { mode } } as never);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  return client;
};

for (const mode of ["legacy", "auto"] as const) {
  playsFirstCalls(`@modelcontextprotocol/client 2, ${mode}`, {
    shown: async (door) => (await (await connect(door, mode)).listTools()).tools.map(({ name, description = "", inputSchema: schema }) => ({ name, description, schema })),
    call: async (door, name, args) => ((await (await connect(door, mode)).callTool({ name, arguments: args })).content as { text: string }[]).map(({ text }) => text).join(""),
  });
}
