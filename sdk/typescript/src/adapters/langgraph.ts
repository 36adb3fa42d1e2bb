import { type DynamicStructuredTool, tool } from "@langchain/core/tools";
import type { TellOptions, Tool } from "../tools.js";
import { isOf, once, onceOnly, suspension } from "./suspension.js";

export interface LanggraphOptions extends Pick<TellOptions, "wait"> {
  /**
   * `interrupt` of @langchain/langgraph: a call that waits for a person suspends the graph
   * with a Suspension, by which it is resumed. Such tools have no `again`. Needs a checkpointer.
   */
  interrupt?: ((value: never) => unknown) | undefined;
}

type Interrupt = (value: unknown) => unknown;

/**
 * Tools for LangGraph.js and LangChain.js (@langchain/core 1 or later).
 *
 *     const agent = createAgent({ model, tools: langgraphTools(await cs.tools(agentId)) });
 */
export function langgraphTools(tools: Iterable<Tool>, { interrupt, wait }: LanggraphOptions = {}): DynamicStructuredTool[] {
  return [...tools].map((t) => {
    const { name, description } = t;
    const call = (args: Record<string, unknown>, signal: AbortSignal | undefined) =>
      interrupt ? suspending(t, onceOnly(t, args), interrupt as Interrupt, { signal, wait }) : t.tell(args, { signal, wait });
    const made = (schema: Record<string, unknown>) =>
      tool((args, config) => call(args as Record<string, unknown>, config?.signal), { name, description, schema }) as unknown as DynamicStructuredTool;
    // The framework checks arguments against the schema, and keeps the reason to itself.
    // The door tells the model which one is wrong, and what would be right.
    const unchecked = made({ type: "object" });
    return Object.assign(made(interrupt ? once(t) : t.schema), { call: unchecked.call.bind(unchecked) });
  });
}

/**
 * suspending suspends the graph while the call waits for a person. When the graph goes on
 * it runs the node, and so the call, from its beginning.
 */
async function suspending(t: Tool, args: Record<string, unknown>, interrupt: Interrupt, o: TellOptions): Promise<string> {
  const value = resumedWith(interrupt);
  for (let of = isOf(value, t, args) ? value : undefined; ; ) {
    const text = of ? await t.status(of.runId, o) : await t.tell(args, o);
    const waits = suspension(t, args, JSON.parse(text));
    if (!waits) return text;
    interrupt(waits);
    of = waits;
  }
}

/** resumedWith is what the graph is resumed with; undefined when this is the first time. */
function resumedWith(interrupt: Interrupt): unknown {
  try {
    return interrupt(undefined);
  } catch (error) {
    if (error instanceof Error && error.name === "GraphInterrupt") return undefined;
    throw error;
  }
}
