export interface Options {
  /** The service's origin, such as https://countersign.example. http only on loopback. */
  baseUrl: string;
  /** A token of the service; see the specification, section 5.1. */
  token: string;
  /** Default /api/runtime/v1; /v1 is the same API. */
  prefix?: string;
  /** Default the global fetch. */
  fetch?: typeof globalThis.fetch;
  /** How long one attempt may take, its whole answer included. Default 30000. */
  timeoutMs?: number;
  /** How often a request is repeated where that is safe. Default 2. */
  retries?: number;
  /** Larger answers are refused while they are read. Default 8 MiB. */
  maxAnswerBytes?: number;
  /** Allows http to other hosts than loopback: the token then travels in clear text. */
  allowInsecure?: boolean;
}

/** What the options come to. */
export interface Settings {
  base: string;
  /** The service's, without the API's prefix. */
  origin: string;
  fetch: typeof globalThis.fetch;
  timeoutMs: number;
  retries: number;
  maxAnswerBytes: number;
}

const defaultPrefix = "/api/runtime/v1";
const longestTimer = 2 ** 31 - 1;
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** settle checks the options; what is wrong with them is a TypeError, with no secret in it. */
export function settle(options: Options): Settings {
  checkToken(options.token);
  return {
    origin: origin(options),
    base: origin(options) + prefix(options.prefix ?? defaultPrefix),
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs: positive("timeoutMs", options.timeoutMs ?? 30_000, longestTimer),
    retries: natural("retries", options.retries ?? 2),
    maxAnswerBytes: positive("maxAnswerBytes", options.maxAnswerBytes ?? 8 << 20),
  };
}

/** A token with a blank or a line break would show up in fetch's own error. */
function checkToken(token: string): void {
  if (token === "") throw new TypeError("token: it is empty; is the environment variable set?");
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) throw new TypeError("token: it must be visible ASCII characters");
}

function origin({ baseUrl, allowInsecure }: Options): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl: it must be an http or https origin, such as https://countersign.example");
  if (url.pathname !== "/" || url.search || url.hash || url.username || url.password) {
    throw new TypeError("baseUrl: it must be an origin only; a path goes into `prefix`");
  }
  if (url.protocol === "http:" && !loopback.test(url.hostname) && !allowInsecure) {
    throw new TypeError("baseUrl: http would send the token in clear text; use https, or say allowInsecure");
  }
  return url.origin;
}

function prefix(path: string): string {
  if (!/^(\/[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*\/?$/.test(path)) throw new TypeError("prefix: it must be a path such as /api/runtime/v1");
  return path.replace(/\/$/, "");
}

function positive(name: string, value: number, most = Number.MAX_SAFE_INTEGER): number {
  if (!Number.isSafeInteger(value) || value < 1 || value > most) throw new TypeError(`${name}: it must be a whole number from 1 to ${most}`);
  return value;
}

function natural(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${name}: it must be a whole number, 0 or more`);
  return value;
}
