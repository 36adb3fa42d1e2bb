import { jsonSchema, type Tool as AITool, tool } from "ai";
import type { Tool, ToolAnswer } from "../tools.js";

/**
 * Tools for the Vercel AI SDK (ai 5 or later), by their names.
 *
 *     await generateText({ model, prompt, tools: aiTools(await cs.tools(agentId)) });
 */
export function aiTools(tools: Iterable<Tool>): Record<string, AITool<Record<string, unknown>, ToolAnswer>> {
  return Object.fromEntries(
    [...tools].map((t) => [
      t.name,
      tool({
        description: t.description,
        inputSchema: jsonSchema<Record<string, unknown>>(t.schema as never),
        execute: (args, { abortSignal }) => t.call(args, { signal: abortSignal }),
      }),
    ]),
  );
}
