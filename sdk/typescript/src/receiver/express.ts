import type { IncomingMessage, ServerResponse } from "node:http";
import { answerHeader } from "./answersigning.js";
import { write } from "./node.js";
import { Recorder } from "./recorder.js";
import type { Delivery } from "./remember.js";
import { checkOptions, hasEffect, once, type ReceivedCall, receive, type ReceiverOptions } from "./request.js";

/** What the middleware adds to a request. */
export interface VerifiedRequest<Tx = undefined> extends IncomingMessage {
  originalUrl?: string;
  /** The raw bytes. */
  rawBody?: Buffer;
  /** Their JSON value; undefined where there is no body, or none in JSON. */
  body?: unknown;
  /** The verified call, and for a side effect its transaction and `release`. */
  countersign?: ReceivedCall & Partial<Delivery<Tx>>;
}

type Next = (error?: unknown) => void;

/**
 * expressMiddleware stands before an API's own routes (Express 4 and 5, or anything
 * with the same shape) and before any body parser: it reads the raw body itself,
 * and leaves `req.rawBody`, the parsed `req.body` and `req.countersign`. It answers
 * what isn't signed, and repeats, as nodeHandler does. A side effect's response is
 * held back until it is remembered; what an error handler answers with 5xx leaves
 * the key in doubt.
 */
export function expressMiddleware<Tx = undefined>(options: ReceiverOptions<Tx>) {
  checkOptions(options);
  return (req: VerifiedRequest<Tx>, res: ServerResponse, next: Next): void => {
    pass(options, req, res, next).catch((error: unknown) => {
      options.onError?.(error);
      next(error);
    });
  };
}

async function pass<Tx>(options: ReceiverOptions<Tx>, req: VerifiedRequest<Tx>, res: ServerResponse, next: Next): Promise<void> {
  if (req.readableEnded) throw new Error("expressMiddleware must stand before body parsers: the raw body is gone");
  const call = await receive(req, options as ReceiverOptions<never>);
  if ("status" in call) return write(res, call);
  provide(req, call);
  if (!hasEffect(call.method) && (!options.answerKey || call.method === "HEAD")) return next();
  await recorded(options, res, next, call);
}

/** recorded runs the routes behind us once for the key, and remembers what they answer. */
async function recorded<Tx>(options: ReceiverOptions<Tx>, res: ServerResponse, next: Next, call: ReceivedCall): Promise<void> {
  let recorder: Recorder | undefined;
  try {
    const reply = await once(call, options, (delivery) => {
      Object.assign(call, { tx: delivery.tx, release: delivery.release });
      recorder = new Recorder(res);
      next();
      return recorder.answer;
    });
    if (recorder && reply.body === (await recorder.answer).body) {
      res.removeHeader(answerHeader); // a route signs nothing
      for (const [name, value] of Object.entries(reply.headers)) res.setHeader(name, value);
      return recorder.send(); // with all the headers that were set
    }
    recorder?.discard();
    write(res, reply);
  } catch (error) {
    recorder?.discard();
    throw error;
  }
}

function provide<Tx>(req: VerifiedRequest<Tx>, call: ReceivedCall): void {
  req.countersign = call;
  req.rawBody = call.body as Buffer;
  req.body = parsed(call.body as Buffer);
  Object.assign(req, { _body: true }); // body-parser's own sign that the body is read
}

function parsed(body: Buffer): unknown {
  try {
    return body.byteLength > 0 ? JSON.parse(body.toString("utf8")) : undefined;
  } catch {
    return undefined;
  }
}
