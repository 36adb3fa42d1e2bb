/** What a handler answers, and what is remembered of it. */
export interface Answer {
  status: number;
  /** "" where there is no body. */
  contentType: string;
  /** At most 1 MiB. */
  body: Uint8Array;
}

/** A body of a call, and an answer that is remembered, has at most this many bytes. */
export const maxBytes = 1 << 20;

/** json is an answer with a JSON body; without a value it has none. */
export function json(status: number, value?: unknown): Answer {
  if (value === undefined) return { status, contentType: "", body: new Uint8Array() };
  return { status, contentType: "application/json", body: Buffer.from(JSON.stringify(value)) };
}

/** Reply is an answer with the headers that the kit adds. */
export interface Reply extends Answer {
  headers: Record<string, string>;
  /** It says nothing of what was done, so it isn't signed. */
  unsigned?: true;
}

/** problem is an answer of the kit's own: {"error": code, "message": text}. */
export function problem(status: number, error: string, message: string, headers: Record<string, string> = {}): Reply {
  return { ...json(status, { error, message }), headers };
}
