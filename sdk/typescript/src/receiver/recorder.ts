import type { ServerResponse } from "node:http";
import { type Answer, maxBytes } from "./answer.js";

/**
 * Recorder holds back what is written to a response until `send`, so that it can be
 * remembered first. Streaming is not supported: nothing leaves before the end.
 */
export class Recorder {
  /** Comes once the response is ended. */
  readonly answer: Promise<Answer>;
  readonly #res: ServerResponse;
  readonly #chunks: Buffer[] = [];
  readonly #own: Pick<ServerResponse, "writeHead" | "write" | "end" | "flushHeaders">;
  #bytes = 0;

  constructor(res: ServerResponse) {
    this.#res = res;
    this.#own = { writeHead: res.writeHead, write: res.write, end: res.end, flushHeaders: res.flushHeaders };
    this.answer = new Promise((resolve) => this.#intercept(resolve));
  }

  /** Lets the response out as it was recorded, with all its headers. */
  send(): void {
    Object.assign(this.#res, this.#own);
    this.#res.removeHeader("Content-Length"); // node counts
    this.#res.end(Buffer.concat(this.#chunks));
  }

  /** Forgets what was recorded: something else is answered. */
  discard(): void {
    Object.assign(this.#res, this.#own);
    for (const name of this.#res.getHeaderNames()) this.#res.removeHeader(name);
  }

  #intercept(ended: (answer: Answer) => void): void {
    const res = this.#res;
    res.flushHeaders = () => {};
    res.writeHead = ((status: number, ...rest: unknown[]) => {
      res.statusCode = status;
      const headers = rest.find((arg) => typeof arg === "object" && arg !== null) ?? {};
      for (const [name, value] of Object.entries(headers)) res.setHeader(name, value as string);
      return res;
    }) as typeof res.writeHead;
    res.write = ((chunk: unknown, ...rest: unknown[]) => {
      this.#keep(chunk, rest);
      done(rest);
      return true;
    }) as typeof res.write;
    res.end = ((...args: unknown[]) => {
      const [chunk, ...rest] = typeof args[0] === "function" ? [undefined, ...args] : args;
      if (chunk !== undefined && chunk !== null) this.#keep(chunk, rest);
      const callback = rest.find((arg) => typeof arg === "function");
      if (callback) res.once("finish", callback as () => void);
      ended({ status: res.statusCode, contentType: String(res.getHeader("Content-Type") ?? ""), body: Buffer.concat(this.#chunks) });
      return res;
    }) as typeof res.end;
  }

  /** What is beyond the bound is counted, not kept: it won't be remembered, so it isn't given. */
  #keep(chunk: unknown, rest: unknown[]): void {
    const encoding = rest.find((arg) => typeof arg === "string") as BufferEncoding | undefined;
    const bytes = typeof chunk === "string" ? Buffer.from(chunk, encoding) : Buffer.from(chunk as Uint8Array);
    if (this.#bytes <= maxBytes) this.#chunks.push(bytes);
    this.#bytes += bytes.byteLength;
  }
}

function done(rest: unknown[]): void {
  const callback = rest.find((arg) => typeof arg === "function") as (() => void) | undefined;
  if (callback) queueMicrotask(callback);
}
