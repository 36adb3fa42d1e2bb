import type { Tool } from "../tools.js";
import type { ToolAnswer } from "../toolanswer.js";

/**
 * What an agent is suspended for: a call that waits for a person. Keep it with the
 * suspended agent, and resume the agent with it once the run has ended.
 */
export interface Suspension {
  runId: string;
  /** Where a person approves. */
  url: string | null;
  message: string;
  tool: string;
  arguments: unknown;
}

/** suspension is what an answer suspends its agent for; undefined if nothing. */
export function suspension(tool: Tool, args: unknown, answer: ToolAnswer): Suspension | undefined {
  if (answer.outcome !== "WAITING_FOR_A_PERSON" || !answer.runId) return undefined;
  return { runId: answer.runId, url: answer.url, message: answer.message, tool: tool.name, arguments: args };
}

/** isOf: a value that an agent is resumed with is this call's suspension. */
export function isOf(value: unknown, tool: Tool, args: unknown): value is Suspension {
  if (typeof value !== "object" || value === null) return false;
  const { runId, tool: name, arguments: given } = value as Partial<Suspension>;
  return typeof runId === "string" && name === tool.name && JSON.stringify(given) === JSON.stringify(args);
}

/**
 * once is the schema of a tool whose calls are made anew when a suspended agent goes on:
 * without `again`, since each call that has it is another run. An input that the
 * capability requires and that has this name stays.
 */
export function once(tool: Tool): Record<string, unknown> {
  if (needsAgain(tool)) return tool.schema;
  const { again: _, ...properties } = (tool.schema.properties ?? {}) as Record<string, unknown>;
  return { ...tool.schema, properties };
}

/** onceOnly are arguments of such a call. */
export function onceOnly(tool: Tool, args: Record<string, unknown>): Record<string, unknown> {
  if (needsAgain(tool) || typeof args !== "object" || args === null || Array.isArray(args)) return args; // the door refuses what is no object
  const { again: _, ...rest } = args;
  return rest;
}

function needsAgain(tool: Tool): boolean {
  return Array.isArray(tool.schema.required) && tool.schema.required.includes("again");
}
