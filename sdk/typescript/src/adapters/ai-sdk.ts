import { jsonSchema, type Tool as AITool, tool } from "ai";
import type { ToolAnswer } from "../toolanswer.js";
import type { TellOptions, Tool } from "../tools.js";

/**
 * Tools for the Vercel AI SDK (ai 5 or later), by their names.
 *
 *     await generateText({ model, prompt, tools: aiTools(await cs.tools(agentId)) });
 *
 * `wait`: how many seconds a call waits at most for a person.
 */
export function aiTools(tools: Iterable<Tool>, { wait }: Pick<TellOptions, "wait"> = {}): Record<string, AITool<Record<string, unknown>, ToolAnswer>> {
  return Object.fromEntries(
    [...tools].map((t) => [
      t.name,
      tool({
        description: t.description,
        inputSchema: jsonSchema<Record<string, unknown>>(t.schema as never),
        execute: async (args, { abortSignal }): Promise<ToolAnswer> => JSON.parse(await t.tell(args, { signal: abortSignal, wait })),
      }),
    ]),
  );
}
