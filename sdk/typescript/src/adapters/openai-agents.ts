import { type FunctionTool, type RunContext, tool } from "@openai/agents";
import type { TellOptions, Tool } from "../tools.js";
import { once, onceOnly, suspension } from "./suspension.js";

export interface OpenAIOptions extends Pick<TellOptions, "wait"> {
  /**
   * A call that waits for a person is an interruption of the run, on which the run goes on
   * when `state.approve(interruption)` says that somebody has decided. That decides
   * nothing by itself: the call is told what was decided. Such tools have no `again`.
   */
  interrupt?: boolean | undefined;
  /** Cancels calls too, for releases that give a tool no signal of its run. */
  signal?: AbortSignal | undefined;
}

/**
 * Tools for the OpenAI Agents SDK (@openai/agents 0.3 or later).
 *
 *     const agent = new Agent({ name: "Refunder", tools: openaiTools(await cs.tools(agentId)) });
 */
export function openaiTools(tools: Iterable<Tool>, { interrupt = false, wait, signal }: OpenAIOptions = {}): FunctionTool[] {
  return [...tools].map((t) => {
    const suspends = interrupt && !t.readOnly;
    const made = tool({
      name: t.name,
      description: t.description,
      parameters: (suspends ? once(t) : t.schema) as never,
      strict: false, // strict schemas have no optional arguments
      execute: (args) => t.tell(args as Record<string, unknown>, { signal, wait }),
    });
    // The model's own text: parsed, its numbers would lose their digits.
    const invoke = (_context: RunContext, args: string, details?: { signal?: AbortSignal }) => t.tell(suspends ? onceOnlyText(t, args) : args, { signal: details?.signal ?? signal, wait });
    const asks = async (_context: RunContext, args: unknown): Promise<boolean> => {
      const given = onceOnly(t, args as Record<string, unknown>);
      return suspension(t, given, JSON.parse(await t.tell(given, { signal, wait }))) !== undefined;
    };
    return { ...made, invoke, ...(suspends ? { needsApproval: asks } : {}) } as FunctionTool;
  });
}

/** onceOnlyText keeps the text where it has no `again`. */
function onceOnlyText(t: Tool, args: string): string {
  try {
    const given = JSON.parse(args);
    return Object.hasOwn(given, "again") ? JSON.stringify(onceOnly(t, given)) : args;
  } catch {
    return args;
  }
}
