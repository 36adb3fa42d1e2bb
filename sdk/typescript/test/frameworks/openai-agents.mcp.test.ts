import { Agent, MCPServerStreamableHttp, type Model, type ModelRequest, Runner } from "@openai/agents";
import { type Door, playsFirstCalls } from "./firstcalls.js";

const runner = new Runner({ tracingDisabled: true });

const connect = async ({ url, token }: Door) => {
  const server = new MCPServerStreamableHttp({ url, name: "countersign", requestInit: { headers: { Authorization: `Bearer ${token}` } } });
  await server.connect();
  return server;
};

for (const strict of [false, true]) {
  playsFirstCalls(`@openai/agents MCPServerStreamableHttp, strict ${strict}`, {
    shown: async (door) => (await (await connect(door)).listTools()).map(({ name, description = "", inputSchema: schema }) => ({ name, description, schema })),
    call: async (door, name, args) => {
      const response = async ({ input, tools }: ModelRequest) => {
        const result = Array.isArray(input) ? input.filter((item) => item.type === "function_call_result").at(-1) : undefined;
        // A strict schema has a model name every argument.
        const properties = Object.keys((tools.find((tool) => tool.name === name) as { parameters?: { properties?: object; required?: string[] } } | undefined)?.parameters?.properties ?? {});
        const given = strict ? Object.fromEntries(properties.map((property) => [property, args[property] ?? null])) : args;
        const said = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: JSON.stringify(result) }] };
        const call = { type: "function_call", callId: "1", name, status: "completed", arguments: JSON.stringify(given) };
        return { usage: { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }, output: [result ? said : call] };
      };
      const agent = new Agent({ name: "Clerk", model: { getResponse: response } as unknown as Model, mcpServers: [await connect(door)], mcpConfig: { convertSchemasToStrict: strict } } as never);
      return (await runner.run(agent, "go on")).finalOutput;
    },
  });
}
