import { AIMessage } from "@langchain/core/messages";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { type Door, playsFirstCalls } from "./firstcalls.js";

const tools = ({ url, token }: Door) => new MultiServerMCPClient({ countersign: { transport: "http", url, headers: { Authorization: `Bearer ${token}` } } } as never).getTools();

playsFirstCalls("@langchain/mcp-adapters", {
  shown: async (door) => (await tools(door)).map(({ name, description, schema }) => ({ name, description, schema })),
  call: async (door, name, args) => {
    const { messages } = await new ToolNode(await tools(door)).invoke({ messages: [new AIMessage({ content: "", tool_calls: [{ id: "1", name, args }] })] });
    return messages[0].content;
  },
});
