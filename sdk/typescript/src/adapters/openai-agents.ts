import { type FunctionTool, tool } from "@openai/agents";
import type { Tool } from "../tools.js";

/**
 * Tools for the OpenAI Agents SDK (@openai/agents 0.3 or later).
 *
 *     const agent = new Agent({ name: "Refunder", tools: openaiTools(await cs.tools(agentId)) });
 */
export function openaiTools(tools: Iterable<Tool>): FunctionTool[] {
  return [...tools].map((t) => {
    const made = tool({
      name: t.name,
      description: t.description,
      parameters: t.schema as never,
      strict: false, // strict schemas have no optional arguments
      execute: (args) => t.text(args as Record<string, unknown>),
    });
    // The model's own text: parsed, its numbers would lose their digits.
    return { ...made, invoke: (_context: unknown, args: string) => t.text(args) } as FunctionTool;
  });
}
