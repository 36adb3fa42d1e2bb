import { CountersignConnectionError, CountersignError } from "./errors.js";

/** A longer wait than this is the caller's to decide about, in seconds. */
const longestWait = 30;
const firstPauseMs = 200;

/**
 * retryDelay is how many milliseconds to wait before a request is sent again;
 * undefined: it isn't. `repeatable` requests are reads and run starts, whose key
 * finds the run that an earlier attempt may have started. Any other write is
 * repeated only where the service itself says that it did nothing and when to come
 * back: after a broken connection nobody knows what it did.
 */
export function retryDelay(error: unknown, repeatable: boolean, attempt: number): number | undefined {
  const pause = firstPauseMs * 2 ** attempt * (0.5 + Math.random() / 2);
  if (error instanceof CountersignConnectionError) return repeatable ? pause : undefined;
  if (!(error instanceof CountersignError) || error.status !== 503) return undefined;
  if (error.retryAfter === undefined) return repeatable ? pause : undefined;
  return error.retryAfter <= longestWait ? Math.max(error.retryAfter * 1000, pause) : undefined;
}
