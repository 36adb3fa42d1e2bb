import type { IncomingMessage } from "node:http";
import { type Answer, maxBytes, problem, type Reply } from "./answer.js";
import { type Delivery, remember, type RememberOptions } from "./remember.js";
import { type Call, type Secret, SignatureError, verifySignature } from "./signature.js";
import type { Store, Transactor } from "./store.js";

/** What a receiver is made of. */
export interface ReceiverOptions<Tx = undefined> extends RememberOptions {
  /** Those that are accepted: one, or two while the secret is changed. */
  secrets: readonly Secret[];
  store: Store | Transactor<Tx>;
  /** Default 300. */
  windowSeconds?: number;
}

/** checkOptions refuses to come up without a secret: a variable that isn't set shows at the start. */
export function checkOptions({ secrets }: Pick<ReceiverOptions, "secrets">): void {
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
    return { ...verifySignature({ secrets, method: req.method ?? "", target, headers: headerPairs(req), body, now: now() / 1000, windowSeconds }), body };
  } catch (error) {
    if (error instanceof SignatureError) return problem(401, error.reason, error.message);
    throw error;
  }
}

/** once answers a call: a read by its handler, a side effect once for its key. */
export async function once<Tx>(call: ReceivedCall, options: ReceiverOptions<Tx>, handler: (delivery: Delivery<Tx>) => Promise<Answer> | Answer): Promise<Reply> {
  if (hasEffect(call.method)) return remember(options.store, call, handler, options);
  return { headers: {}, ...(await handler({ tx: undefined as Tx, release: () => {} })) };
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
