import { CountersignConnectionError, CountersignError } from "./errors.js";

/** A status with the whole text that came with it. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** read takes a body in, up to a number of bytes, as strict UTF-8. */
export async function read(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new TooLarge(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** TooLarge breaks the reading off; its message is for the caller. */
export class TooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes (maxAnswerBytes)`);
  }
}

/** parse is the value of a successful answer. */
export function parse(answer: Answer): unknown {
  try {
    return JSON.parse(answer.text);
  } catch {
    throw new CountersignConnectionError(`the answer ${answer.status} is no JSON`, { status: answer.status });
  }
}

/**
 * refusal is the error of an answer that is no success. Only the service's own
 * Error body says what became of the request; a proxy's page says nothing of it.
 */
export function refusal(answer: Answer): CountersignError | CountersignConnectionError {
  const { status } = answer;
  if (status >= 300 && status < 400) return new CountersignConnectionError(`answered with a redirect (${status}), which is not followed`, { status });
  const body = errorBody(answer.text);
  if (!body) return new CountersignConnectionError(`the answer ${status} is not one of the service`, { status });
  const requestId = body.requestId ?? answer.headers.get("x-request-id") ?? undefined;
  return new CountersignError(body.error, body.message, { status, requestId, retryAfter: seconds(answer.headers.get("retry-after")) });
}

function errorBody(text: string): { error: string; message: string; requestId?: string } | undefined {
  try {
    const body = JSON.parse(text);
    return typeof body?.error === "string" && typeof body.message === "string" ? body : undefined;
  } catch {
    return undefined;
  }
}

function seconds(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}
