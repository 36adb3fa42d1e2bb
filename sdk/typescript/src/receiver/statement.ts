import { type Answer, problem, type Reply } from "./answer.js";
import type { Entry, Memory } from "./store.js";

/** What a memory of keys knows of one (contract 12.6). */
export type Known = "DONE" | "IN_PROGRESS" | "UNKNOWN" | "UNSEEN" | "WITHDRAWN";

/** The answer to a question about a key. */
export interface Statement {
  key: string;
  state: Known;
  /** Of DONE. */
  answer?: Answer;
  at: Date;
  /** From this time on the memory has forgotten nothing. */
  since: Date;
}

/** statementText is a statement as it is sent: the body of a kept answer that is JSON stands in it byte for byte. */
export function statementText(s: Statement): Uint8Array {
  const parts: (string | Uint8Array)[] = [`{"key":${JSON.stringify(s.key)},"state":"${s.state}"`];
  if (s.state === "DONE" && s.answer) {
    parts.push(`,"statusCode":${s.answer.status}`);
    if (s.answer.body.byteLength > 0) parts.push(...(isJson(s.answer.body) ? [`,"body":`, s.answer.body] : [`,"text":${JSON.stringify(new TextDecoder("utf-8", { ignoreBOM: true }).decode(s.answer.body))}`]));
  }
  parts.push(`,"at":"${s.at.toISOString()}","since":"${s.since.toISOString()}"}`);
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
    return true;
  } catch {
    return false;
  }
}

/** A question about a key, or why a request below the settlement's path asks nothing. */
export type Question = { key: string; withdraw: boolean } | Reply;

const maxKey = 512;

/** isKey is a key that a call may have; those that begin with ~ are the stores' own. */
export function isKey(key: string): boolean {
  return Buffer.byteLength(key) <= maxKey && !key.startsWith("~");
}

export const badKey = (): Reply => problem(400, "invalid_request", `an idempotency key has at most ${maxKey} bytes, and doesn't begin with ~`);

/** questionOf reads a request; undefined for one that isn't below the settlement's path. */
export function questionOf(settlement: string | undefined, method: string, target: string): Question | undefined {
  const [path = "", query = ""] = target.split("?", 2);
  if (!settlement || !path.startsWith(`${settlement}/`)) return undefined;
  const [key = "", more, ...deeper] = path.slice(settlement.length + 1).split("/").map(decoded);
  const withdraw = more === "withdraw" && deeper.length === 0;
  if (key === "" || (more !== undefined && !withdraw)) return problem(404, "not_found", "below this path there are {key} and {key}/withdraw");
  const allow = withdraw ? "POST" : "GET";
  if (method !== allow) return problem(405, "method_not_allowed", "a question is a GET, a withdrawal a POST", { Allow: allow });
  if (!isKey(key)) return badKey();
  const sent = new URLSearchParams(query).getAll("sent");
  if (sent.length > 1 || (sent.length === 1 && !/^(0|[1-9][0-9]{0,14})$/.test(sent[0] as string))) return problem(400, "invalid_request", "sent is the time of the first sending, in Unix seconds");
  return { key, withdraw };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** stated finds out what is known of a key, and withdraws it if the question says so. A GET tells, and changes nothing. */
export async function stated(memory: Memory, q: { key: string; withdraw: boolean }, now: Date, atWork: (key: string) => boolean, isAt: (entry: Entry) => boolean): Promise<Reply> {
  const since = await memory.since(now);
  const works = atWork(q.key); // asked first: it may end, and be kept, meanwhile
  let entry = await memory.look(q.key);
  if (!entry && q.withdraw) entry = await memory.withdraw(q.key, now);
  const s: Statement = { key: q.key, state: works ? "IN_PROGRESS" : "UNSEEN", at: now, since };
  if (entry?.state === "FINISHED") Object.assign(s, { state: "DONE", answer: entry.answer });
  else if (entry?.state === "WITHDRAWN") s.state = "WITHDRAWN";
  else if (entry) s.state = isAt(entry) ? "IN_PROGRESS" : "UNKNOWN";
  return { status: 200, contentType: "application/json", body: statementText(s), headers: {} };
}

