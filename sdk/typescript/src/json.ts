/**
 * JSON text that is sent as it stands. JavaScript's numbers are doubles: beyond
 * 2^53, or with more than 17 digits, they are another number than the one that was
 * written. The service keeps every digit, so give such a body as text.
 */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    JSON.parse(text); // throws here, where the text was made
    this.text = text;
  }
}

/** A body: a value, or its JSON text where every digit counts. */
export type Body<T> = T | RawJson;

export function rawJson(text: string): RawJson {
  return new RawJson(text);
}

/** encode writes a body; a number that would arrive as another one is refused. */
export function encode(body: unknown): string {
  return body instanceof RawJson ? body.text : JSON.stringify(body, exact);
}

function exact(key: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  if (!Number.isFinite(value)) throw new TypeError(`${key}: ${value} is no JSON number`);
  if (Number.isInteger(value)) throw new TypeError(`${key}: integers beyond 2^53 are rounded by JavaScript; give the body by rawJson(text)`);
  return value;
}
