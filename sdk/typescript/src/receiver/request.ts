import type { IncomingMessage } from "node:http";
import { type Answer, maxBytes, problem, type Reply } from "./answer.js";
import { signedReply } from "./answersigning.js";
import { atWork, type Delivery, isAt, remember, type RememberOptions } from "./remember.js";
import { type Call, type Secret, SignatureError, verifySignature } from "./signature.js";
import { questionOf, stated } from "./statement.js";
import { isMemory, type Store, type Transactor } from "./store.js";

/** What a receiver is made of. */
export interface ReceiverOptions<Tx = undefined> extends RememberOptions {
  /** Those that are accepted: one, or two while the secret is changed. */
  secrets: readonly Secret[];
  store: Store | Transactor<Tx>;
  /** Default 300. */
  windowSeconds?: number;
  /**
   * The path below which questions about keys are answered, such as "/settlement"; the project has it as settlement.path.
   * It needs an answerKey, and a store that is a Memory, as those of this package are.
   */
  settlement?: string;
}

/** checkOptions refuses to come up without a secret: a variable that isn't set shows at the start. */
export function checkOptions({ secrets, settlement, answerKey, store }: Pick<ReceiverOptions, "secrets" | "settlement" | "answerKey"> & { store: object }): void {
  if (settlement !== undefined) {
    if (!answerKey) throw new TypeError("settlement: it needs an answerKey");
    if (!isMemory(store)) throw new TypeError("settlement: it needs a store that is a Memory");
    if (!settlement.startsWith("/") || settlement.endsWith("/")) throw new TypeError("settlement: it is a path, such as /settlement");
  }
  if (secrets.length === 0 || secrets.some((secret) => secret.length === 0)) throw new TypeError("secrets: there is none, or an empty one; is the environment variable set?");
}

/** A verified call with its raw body. */
export interface ReceivedCall extends Call {
  body: Uint8Array;
}

/** Whether a call can have a side effect; what can't is not remembered. */
export function hasEffect(method: string): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** receive reads and verifies a request, or gives the answer that refuses it. */
export async function receive(req: IncomingMessage & { originalUrl?: string }, options: ReceiverOptions<never>): Promise<ReceivedCall | Reply> {
  const body = await rawBody(req);
  if (!body) return problem(413, "payload_too_large", "a body has at most 1 MiB");
  const { secrets, windowSeconds = 300, now = Date.now } = options;
  try {
    const target = req.originalUrl ?? req.url ?? "";
    const call = { ...verifySignature({ secrets, method: req.method ?? "", target, headers: headerPairs(req), body, now: now() / 1000, windowSeconds }), body };
    return (await aside(call, options)) ?? call;
  } catch (error) {
    if (error instanceof SignatureError) return problem(401, error.reason, error.message);
    throw error;
  }
}

/** Stores that keep since when they forget nothing. */
const remembering = new WeakSet<object>();

/** aside answers what never reaches the handler: a question about a key, and a call that comes too early after a restore. */
async function aside(call: ReceivedCall, options: ReceiverOptions<never>): Promise<Reply | undefined> {
  const { store, settlement, answerKey, windowSeconds = 300, now = Date.now, onError, inProgressMs = 120_000 } = options;
  if (!isMemory(store)) return undefined;
  const question = questionOf(settlement, call.method, call.target);
  const reads = !hasEffect(call.method);
  try {
    const at = new Date(now());
    if (question) {
      const reply = "status" in question ? question : await stated(store, question, at, atWork, (entry) => isAt(entry, at, inProgressMs));
      return signedReply(answerKey, call, { ...reply, headers: { ...reply.headers, "Cache-Control": "no-store" } }, now());
    }
    const restored = await store.restoredAt();
    if (!reads && answerKey && !remembering.has(store)) {
      await store.since(at); // kept from the first call on, not from the first question
      remembering.add(store);
    }
    const wait = restored ? restored.getTime() + 2000 * windowSeconds - now() : 0;
    if (wait <= 0) return undefined;
    return problem(503, "unavailable", "what this API remembers was restored: it takes calls again when each call of before is too old; nothing was done", { "Retry-After": String(Math.ceil(wait / 1000)) });
  } catch (error) {
    onError?.(error);
    if (reads && !question) return undefined;
    return problem(503, "unavailable", "the store of idempotency keys could not be asked; nothing was done", { "Retry-After": "1" });
  }
}

/** once answers a call: a read by its handler, a side effect once for its key. */
export async function once<Tx>(call: ReceivedCall, options: ReceiverOptions<Tx>, handler: (delivery: Delivery<Tx>) => Promise<Answer> | Answer): Promise<Reply> {
  return signed(call, options, hasEffect(call.method) ? await remember(options.store, call, handler, options) : await read(call, options, handler));
}

/** read answers a call that is not remembered. */
async function read<Tx>(call: ReceivedCall, options: ReceiverOptions<Tx>, handler: (delivery: Delivery<Tx>) => Promise<Answer> | Answer): Promise<Reply> {
  const answer = await handler({ tx: undefined as Tx, release: () => {} });
  if (options.answerKey && call.method === "GET" && answer.body.byteLength > maxBytes) return problem(500, "too_large", "an answer of more than 1 MiB can't be signed, so it is not given");
  return { headers: {}, ...answer };
}

function signed<Tx>(call: ReceivedCall, options: ReceiverOptions<Tx>, reply: Reply): Reply {
  return signedReply(options.answerKey, call, reply, (options.now ?? Date.now)());
}

/** rawBody is nothing where the body is too long. */
async function rawBody(req: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** headerPairs are the headers as they came: node's own object joins what is repeated. */
function* headerPairs(req: IncomingMessage): Generator<[string, string]> {
  for (let i = 0; i + 1 < req.rawHeaders.length; i += 2) yield [req.rawHeaders[i] as string, req.rawHeaders[i + 1] as string];
}
