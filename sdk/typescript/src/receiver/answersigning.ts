// How an answer is signed: contract 12.6. The same vectors check this and the Go definition:
// receiver/testdata/answer-vectors.json.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { Reply } from "./answer.js";
import { bodyHash } from "./signature.js";

/** The header by which a receiver signs an answer. */
export const answerHeader = "X-Runtime-Answer";

const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex");
const spki = Buffer.from("302a300506032b6570032100", "hex");

/** parseAnswerKey makes the key that signs answers from its seed, 64 hex digits such as `openssl rand -hex 32` prints. */
export function parseAnswerKey(seed: string): KeyObject {
  if (!/^[0-9a-fA-F]{64}$/.test(seed)) throw new TypeError("the seed of an answer key is 64 hex digits");
  return createPrivateKey({ key: Buffer.concat([pkcs8, Buffer.from(seed, "hex")]), format: "der", type: "pkcs8" });
}

function rawPublic(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: "der", type: "spki" }).subarray(spki.byteLength);
}

/** answerKeyText is the public half of an answer key as a project registers it in answerKeys: `ed25519:` and 64 hex digits. */
export function answerKeyText(key: KeyObject): string {
  return `ed25519:${rawPublic(key).toString("hex")}`;
}

/** answerKeyId is the id by which records name a public key: the lowercase hex SHA-256 of its 32 bytes. */
export function answerKeyId(publicKey: string): string {
  return createHash("sha256").update(Buffer.from(publicKey.slice("ed25519:".length), "hex")).digest("hex");
}

/** What the signature of an answer binds: the request as it came, and the answer. */
export interface AnswerParts {
  idempotencyKey: string;
  /** The request's X-Runtime-Timestamp. */
  timestamp: string;
  method: string;
  target: string;
  /** Of the request. */
  body: Uint8Array;
  status: number;
  /** The answer's raw body. */
  answer: Uint8Array;
}

function signedText(p: AnswerParts, seconds: string): Buffer {
  const lines = ["countersign-answer/1", p.idempotencyKey, p.timestamp, p.method, p.target, bodyHash(p.body), String(p.status), bodyHash(p.answer), seconds];
  if (lines.some((line) => /[\r\n]/.test(line))) throw new TypeError("a signed part holds a line break");
  return Buffer.from(lines.join("\n"));
}

/** signAnswer makes the header's value, at a time in Unix seconds. */
export function signAnswer(key: KeyObject, parts: AnswerParts, at: number): string {
  const seconds = String(Math.floor(at));
  return `v1 ${seconds} ${sign(null, signedText(parts, seconds), key).toString("hex")}`;
}

/**
 * verifyAnswer says by which of the public keys an answer was signed, and when (Unix seconds); undefined where none did.
 * `headers` are all values of the header: a repeated one is none.
 */
export function verifyAnswer(publicKeys: readonly string[], parts: AnswerParts, headers: readonly string[]): { keyId: string; at: number } | undefined {
  const form = headers.length === 1 ? /^v1 (0|[1-9][0-9]{0,11}) ([0-9a-f]{128})$/.exec(headers[0] as string) : null;
  if (!form || (headers[0] as string).endsWith("\n")) return undefined;
  const [, seconds, signature] = form as unknown as [string, string, string];
  for (const text of publicKeys) {
    const key = createPublicKey({ key: Buffer.concat([spki, Buffer.from(text.slice("ed25519:".length), "hex")]), format: "der", type: "spki" });
    if (verify(null, signedText(parts, seconds), key, Buffer.from(signature, "hex"))) return { keyId: answerKeyId(text), at: Number(seconds) };
  }
  return undefined;
}

/**
 * neverSigned are the answers that anybody could draw from a receiver beside the true one, by a spoiled or a repeated
 * request, and those that say that nothing is known.
 */
export function neverSigned(status: number): boolean {
  return status === 400 || status === 401 || status === 408 || status === 413 || status >= 500;
}

/** signedReply is a reply to a verified call as it is sent: signed, unless it says nothing of what was done. */
export function signedReply(key: KeyObject | undefined, call: { idempotencyKey: string; sentAt: Date; method: string; target: string; body: Uint8Array }, reply: Reply, now: number): Reply {
  if (!key || call.method === "HEAD") return reply;
  const { [answerHeader]: _, ...headers } = reply.headers;
  if (reply.unsigned || neverSigned(reply.status)) return { ...reply, headers };
  const answer = reply.status === 204 || reply.status === 304 ? new Uint8Array() : reply.body; // nor is it sent
  const timestamp = String(Math.floor(call.sentAt.getTime() / 1000));
  const value = signAnswer(key, { ...call, timestamp, status: reply.status, answer }, now / 1000);
  return { ...reply, headers: { ...headers, [answerHeader]: value } };
}
