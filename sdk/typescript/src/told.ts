import { CountersignError, isTemporary } from "./errors.js";
import type { Outcome, ToolAnswer } from "./toolanswer.js";

/** The door did not take a message, such as a call of a tool that the agent doesn't have. */
export class ToolError extends Error {
  /** Of JSON-RPC. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "ToolError";
    this.code = code;
  }
}

/** A tool's arguments are no object, or have a number of which nobody knows the digits. Nothing was sent. */
export class ArgumentsError extends TypeError {}

const internalError = -32603;

/** What is known of a call that failed. */
export interface Failed {
  /** Nothing is changed by it: a read, or a rehearsal. */
  harmless: boolean;
  /** It asked `again`. */
  again: boolean;
}

/**
 * told is what a model is told of a call that failed; undefined where the error is none
 * that a model can be told: a cancellation, or a fault of ours.
 */
export function told(error: unknown, call: Failed): ToolAnswer | undefined {
  if (error instanceof ArgumentsError) return answer("REFUSED", "invalid_arguments", `nothing was sent, for ${error.message}: correct the arguments`);
  if (error instanceof ToolError && error.code !== internalError) return answer("REFUSED", "invalid_request", `nothing was sent, for ${error.message}: ${leaveIt}`);
  if (error instanceof ToolError) return answer("UNKNOWN", "internal", lost(call));
  if (error instanceof CountersignError && error.status === 503) return { ...answer("REFUSED", error.code, `nothing was begun, for ${error.message}: make the very same call again later, and don't do it in another way`), ...about(error) };
  if (isTemporary(error)) return { ...answer("UNKNOWN", error instanceof CountersignError ? error.code : "no_answer", lost(call)), ...about(error) };
  if (error instanceof CountersignError) return { ...answer("REFUSED", error.code, `nothing was sent, for ${error.message}: ${leaveIt}`), ...about(error) };
  return undefined;
}

const leaveIt = "tell whom you work for, and don't try it in another way";

function lost({ harmless, again }: Failed): string {
  if (harmless) return "no answer came, and nothing is changed by this call: make the same call again";
  if (again) return "no answer came, and nobody knows whether this call arrived: make the same call without again, which finds the newest run, whose startedAt says whether it is this call's; don't do it in another way";
  return "no answer came, and nobody knows whether this call arrived: make the very same call again, with the same arguments, which finds its run if it did; don't do it in another way";
}

function answer(outcome: Outcome, error: string, message: string): ToolAnswer {
  return { outcome, error, message: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`, url: null, runId: null, startedAt: null, replayed: false };
}

function about(error: unknown): Partial<ToolAnswer> {
  if (!(error instanceof CountersignError)) return {};
  return { ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }), ...(error.requestId === undefined ? {} : { requestId: error.requestId }) };
}
