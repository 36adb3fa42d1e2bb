// How a call is signed: specification 5.2. The same vectors check this and the Go
// definition: receiver/testdata/signature-vectors.json.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** The runtime headers of every call; the signature with HMAC only. */
export const runtimeHeaders = {
  idempotencyKey: "Idempotency-Key",
  runId: "X-Runtime-Run-Id",
  stepId: "X-Runtime-Step-Id",
  timestamp: "X-Runtime-Timestamp",
  signature: "X-Runtime-Signature",
} as const;

export type Secret = string | Uint8Array;

/** Headers as pairs, where a repeated one shows, or by name. */
export type HeadersIn = Iterable<readonly [string, string]> | Record<string, string | readonly string[] | undefined>;

export interface SignedRequest {
  /** Those that are accepted: one, or two while the secret is changed. */
  secrets: readonly Secret[];
  method: string;
  /** Path and query exactly as they came: node's `req.url`, Express's `req.originalUrl`. */
  target: string;
  headers: HeadersIn;
  /** The raw bytes, before any parsing. */
  body: Uint8Array;
  /** Unix seconds; default the clock's. */
  now?: number;
  /** How far the timestamp may be from now, both ways. Default 300. */
  windowSeconds?: number;
}

/** What a verified request says of itself; nothing in it can be forged without the secret. */
export interface Call {
  method: string;
  target: string;
  runId: string;
  stepId: string;
  /** `<runId>.<stepId>`, the same for the life of the step. */
  idempotencyKey: string;
  sentAt: Date;
}

const sentences = {
  no_secret: "this receiver has no secret to verify with, or an empty one: set it",
  missing_header: "each runtime header must be there once, with a value",
  line_break: "no signed part may hold a line break",
  timestamp: "the timestamp must be Unix seconds, close to this receiver's clock: compare the clocks",
  signature: "the signature doesn't match: compare the secrets, and sign the target and the raw body as they are sent",
};

/** A call that is not accepted. The text may be shown to the caller. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
  readonly reason: keyof typeof sentences;

  constructor(reason: keyof typeof sentences, header?: string) {
    super(`${reason}: ${sentences[reason]}${header ? `: ${header}` : ""}`);
    this.reason = reason;
  }
}

/**
 * verifySignature gives the call that a request is, or throws SignatureError: it
 * was not signed with one of the secrets, or not just now. The rules are tried in
 * the order no_secret, missing_header, line_break, signature, timestamp.
 */
export function verifySignature(request: SignedRequest): Call {
  const { secrets, method, target, body } = request;
  if (secrets.length === 0 || secrets.some((secret) => secret.length === 0)) throw new SignatureError("no_secret");
  const header = readHeaders(request.headers);
  const text = canonical([method, target, header.timestamp, header.idempotencyKey, header.runId, header.stepId, bodyHash(body)]);
  if (!matchesAny(secrets, text, header.signature)) throw new SignatureError("signature");
  const sent = seconds(header.timestamp);
  const now = request.now ?? Date.now() / 1000;
  if (!(Math.abs(now - sent) <= (request.windowSeconds ?? 300))) throw new SignatureError("timestamp");
  return { method, target, runId: header.runId, stepId: header.stepId, idempotencyKey: header.idempotencyKey, sentAt: new Date(sent * 1000) };
}

/** The parts joined by a line feed; one that holds a line break could make two calls read the same. */
function canonical(parts: readonly string[]): string {
  if (parts.some((part) => /[\r\n]/.test(part))) throw new SignatureError("line_break");
  return parts.join("\n");
}

/** bodyHash is the lowercase hex SHA-256 of the raw body. */
export function bodyHash(body: Uint8Array | string): string {
  return createHash("sha256").update(body).digest("hex");
}

/** matchesAny compares with every secret, each in constant time. */
function matchesAny(secrets: readonly Secret[], text: string, signature: string): boolean {
  if (!/^sha256=[0-9a-f]{64}$/.test(signature)) return false;
  const given = Buffer.from(signature.slice("sha256=".length), "hex");
  let matches = false;
  for (const secret of secrets) {
    const want = createHmac("sha256", secret).update(text).digest();
    matches = timingSafeEqual(want, given) || matches;
  }
  return matches;
}

/** seconds is NaN where the text is not the one form of a whole number. */
function seconds(text: string): number {
  return /^(0|-?[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
}

type Name = keyof typeof runtimeHeaders;

/** A header that comes twice is refused: who reads the first and who reads the last would see two calls. */
function readHeaders(headers: HeadersIn): Record<Name, string> {
  const found = new Map<string, string[]>();
  for (const [name, value] of pairs(headers)) found.set(name.toLowerCase(), [...(found.get(name.toLowerCase()) ?? []), value]);
  const once = (name: Name): [Name, string] => {
    const [value, ...more] = found.get(runtimeHeaders[name].toLowerCase()) ?? [];
    if (!value || more.length > 0) throw new SignatureError("missing_header", runtimeHeaders[name]);
    return [name, value];
  };
  return Object.fromEntries((Object.keys(runtimeHeaders) as Name[]).map(once)) as Record<Name, string>;
}

function* pairs(headers: HeadersIn): Generator<readonly [string, string]> {
  if (Symbol.iterator in headers) {
    yield* headers as Iterable<readonly [string, string]>;
    return;
  }
  for (const [name, value] of Object.entries(headers)) {
    for (const one of typeof value === "string" ? [value] : (value ?? [])) yield [name, one];
  }
}
