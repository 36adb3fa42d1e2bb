import type { ToolAnswer } from "../toolanswer.js";
import type { TellOptions, Tool } from "../tools.js";
import { onceOnly, type Suspension, suspension } from "./suspension.js";

/** A tool as Mastra takes it, by itself or by its createTool. */
export interface MastraTool {
  id: string;
  description: string;
  inputSchema: never;
  execute: (args: never, context?: never) => Promise<ToolAnswer | undefined>;
}

export interface MastraOptions extends Pick<TellOptions, "wait"> {
  /** A call that waits for a person suspends the agent with a Suspension, by which it is resumed (`resumeData`). */
  suspend?: boolean | undefined;
}

interface Suspends {
  suspend?: (payload: Suspension) => Promise<unknown>;
  resumeData?: { runId?: unknown };
}

/** Of a tool of an agent, of a workflow, or of neither. */
interface Context extends Suspends {
  agent?: Suspends;
  workflow?: Suspends;
  abortSignal?: AbortSignal;
}

/**
 * Tools for Mastra (@mastra/core 1 or later), by their names.
 *
 *     const agent = new Agent({ id, name, instructions, model, tools: mastraTools(await cs.tools(agentId)) });
 */
export function mastraTools(tools: Iterable<Tool>, { suspend = false, wait }: MastraOptions = {}): Record<string, MastraTool> {
  return Object.fromEntries([...tools].map((t) => [t.name, made(t, suspend, wait)]));
}

function made(t: Tool, suspends: boolean, wait: number | undefined): MastraTool {
  const execute = async (args: Record<string, unknown>, context: Context = {}) => {
    const of = context.agent ?? context.workflow ?? context;
    const o = { signal: context.abortSignal, wait };
    const answer: ToolAnswer = JSON.parse(await said(t, args, of.resumeData, o));
    const waits = suspends ? suspension(t, args, answer) : undefined;
    if (!waits || !of.suspend) return answer;
    await of.suspend(waits);
    return undefined;
  };
  return { id: t.name, description: t.description, inputSchema: shown(t.schema) as never, execute };
}

/** said is what became of the call; one that is resumed is never made with `again`, which would be another run. */
function said(t: Tool, args: Record<string, unknown>, resumed: Suspends["resumeData"], o: TellOptions): Promise<string> {
  if (typeof resumed?.runId === "string") return t.status(resumed.runId, o);
  return t.tell(resumed ? onceOnly(t, args) : args, o);
}

/** shown is a schema in the form of the AI SDK, which Mastra takes: the door checks arguments, and tells the model what is wrong. */
function shown(schema: Record<string, unknown>): unknown {
  const validate = (value: unknown) => ({ success: true, value });
  return { [Symbol.for("vercel.ai.schema")]: true, _type: undefined, jsonSchema: schema, validate };
}
