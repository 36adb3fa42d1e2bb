import { type Answer, parse, read, refusal, TooLarge } from "./answer.js";
import { CountersignConnectionError, CountersignError } from "./errors.js";
import { encode } from "./json.js";
import { type Options, type Settings, settle } from "./options.js";
import { retryDelay } from "./retry.js";
import { Deadline, sleep } from "./time.js";

export interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the prefix; its segments are escaped. */
  path: string;
  query?: object | undefined;
  body?: unknown;
  idempotencyKey?: string | undefined;
  /** The same request again does nothing more, though no key says so. */
  repeatable?: boolean | undefined;
  /** Default true; false: the path is below the origin, not below the API's prefix. */
  prefixed?: boolean | undefined;
  accept?: string | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  /** How much longer than usual the service may take, since it was asked to wait. */
  moreMs?: number | undefined;
}

/** Transport sends requests to one origin. The token is in a private field: no print of an object shows it. */
export class Transport {
  readonly #token: string;
  readonly #settings: Settings;

  constructor(options: Options) {
    this.#settings = settle(options);
    this.#token = options.token;
  }

  /** send is the value that a call is answered with, repeated where that is safe; any refusal is thrown. */
  async send(call: Call): Promise<unknown> {
    return this.#repeated(call, parse);
  }

  /** text is the JSON text of the answer, which keeps the digits of its numbers. */
  async text(call: Call): Promise<string> {
    return this.#repeated(call, (answer) => (parse(answer), answer.text));
  }

  /** bytes are those of an answer, as they came. */
  async bytes(call: Call): Promise<Uint8Array> {
    return this.#repeated(call, (answer) => Buffer.from(answer.text)); // it is strict UTF-8
  }

  async #repeated<T>(call: Call, take: (answer: Answer) => T): Promise<T> {
    const prepared = { ...call, body: call.body === undefined ? undefined : encode(call.body) };
    const repeatable = call.method === "GET" || call.repeatable === true || call.idempotencyKey !== undefined;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(prepared, take);
      } catch (error) {
        const delay = attempt < this.#settings.retries ? retryDelay(error, repeatable, attempt) : undefined;
        if (delay === undefined) throw keyed(error, call.idempotencyKey);
        await sleep(delay, call.signal);
      }
    }
  }

  async #attempt<T>(call: Call & { body: string | undefined }, take: (answer: Answer) => T): Promise<T> {
    const deadline = new Deadline((call.timeoutMs ?? this.#settings.timeoutMs) + (call.moreMs ?? 0), call.signal);
    try {
      const response = await this.#fetch(call, deadline.signal, call.accept ?? "application/json");
      const answer = { status: response.status, headers: response.headers, text: await read(response, this.#settings.maxAnswerBytes) };
      if (!response.ok) throw refusal(answer);
      return take(answer);
    } catch (error) {
      throw this.#explain(error, call, deadline);
    } finally {
      deadline.end();
    }
  }

  /**
   * stream follows an answer that goes on, chunk by chunk. It breaks off where
   * nothing comes: `firstMs` for the first chunk, `quietMs` for each other. The
   * caller's signal ends it as well.
   */
  async *stream(call: Call, headers: Record<string, string>, { firstMs, quietMs }: { firstMs: number; quietMs: number }): AsyncGenerator<Uint8Array> {
    const deadline = new Deadline(firstMs, call.signal);
    try {
      const response = await this.#fetch({ ...call, body: undefined }, deadline.signal, "text/event-stream", headers);
      if (!response.ok) throw refusal({ status: response.status, headers: response.headers, text: await read(response, this.#settings.maxAnswerBytes) });
      for await (const chunk of response.body ?? []) {
        deadline.extend(quietMs);
        yield chunk;
      }
    } catch (error) {
      throw this.#explain(error, call, deadline);
    } finally {
      deadline.end();
    }
  }

  #fetch(call: Call & { body: string | undefined }, signal: AbortSignal, accept: string, more: Record<string, string> = {}): Promise<Response> {
    const headers: Record<string, string> = { ...more, Accept: accept, Authorization: `Bearer ${this.#token}` };
    if (call.body !== undefined) headers["Content-Type"] = "application/json";
    if (call.idempotencyKey !== undefined) headers["Idempotency-Key"] = call.idempotencyKey;
    const init: RequestInit = { method: call.method, headers, redirect: "manual", signal };
    if (call.body !== undefined) init.body = call.body;
    const fetch = this.#settings.fetch;
    return fetch(this.#base(call) + call.path + search(call.query), init);
  }

  #base(call: Call): string {
    return call.prefixed === false ? this.#settings.origin : this.#settings.base;
  }

  /** explain makes what fetch throws into one of our errors; of a foreign text nothing is kept. */
  #explain(error: unknown, call: Call, deadline: Deadline): unknown {
    if (error instanceof CountersignError || error instanceof CountersignConnectionError) return error;
    if (call.signal?.aborted) return call.signal.reason;
    const why = deadline.passed ? "no whole answer in time" : error instanceof TooLarge ? error.message : cause(error);
    return new CountersignConnectionError(`${call.method} ${this.#base(call)}${call.path}: ${why}`);
  }
}

/** segment escapes one part of a path; what could climb out of it is refused. */
export function segment(id: string): string {
  if (typeof id !== "string" || id === "" || id === "." || id === "..") throw new TypeError("an id must not be empty, `.` or `..`");
  return encodeURIComponent(id);
}

function search(query: object | undefined): string {
  const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const params = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]));
  return pairs.length === 0 ? "" : `?${params}`;
}

/** cause is the system's word for a failure, such as ECONNREFUSED. */
function cause(error: unknown): string {
  const code = (error as { cause?: { code?: unknown } } | undefined)?.cause?.code;
  return typeof code === "string" && /^[A-Z0-9_]{1,40}$/.test(code) ? `no answer (${code})` : "no answer that can be read";
}

/** keyed adds to a run start's error the key to ask again with. */
function keyed(error: unknown, idempotencyKey: string | undefined): unknown {
  if (idempotencyKey === undefined) return error;
  if (error instanceof CountersignError) return new CountersignError(error.code, error.message, { ...error, idempotencyKey });
  if (error instanceof CountersignConnectionError) return new CountersignConnectionError(error.message, { ...error, idempotencyKey });
  return error;
}
