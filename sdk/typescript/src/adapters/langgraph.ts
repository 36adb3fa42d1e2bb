import { type DynamicStructuredTool, tool } from "@langchain/core/tools";
import type { Tool } from "../tools.js";

/**
 * Tools for LangGraph.js and LangChain.js (@langchain/core 1 or later).
 *
 *     const agent = createAgent({ model, tools: langgraphTools(await cs.tools(agentId)) });
 */
export function langgraphTools(tools: Iterable<Tool>): DynamicStructuredTool[] {
  return [...tools].map(
    (t) =>
      tool((args, config) => t.text(args as Record<string, unknown>, { signal: config?.signal }), {
        name: t.name,
        description: t.description,
        schema: t.schema,
      }) as unknown as DynamicStructuredTool,
  );
}
