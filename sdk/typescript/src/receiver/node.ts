import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answer, problem, type Reply } from "./answer.js";
import type { Delivery } from "./remember.js";
import { checkOptions, once, type ReceivedCall, receive, type ReceiverOptions } from "./request.js";

/** Answers one verified call. */
export type Handler<Tx = undefined> = (call: ReceivedCall, delivery: Delivery<Tx>) => Promise<Answer> | Answer;

/**
 * nodeHandler is a listener for node:http that lets only genuine calls through to
 * `handler`, and each side effect once: 413 for a body over 1 MiB, 401 with the
 * reason for what isn't signed, 409 as `remember` says. A handler that throws is 500.
 */
export function nodeHandler<Tx = undefined>(options: ReceiverOptions<Tx>, handler: Handler<Tx>): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  checkOptions(options);
  return async (req, res) => {
    try {
      const call = await receive(req, options as ReceiverOptions<never>);
      write(res, "status" in call ? call : await once(call, options, (delivery) => handler(call, delivery)));
    } catch (error) {
      options.onError?.(error);
      write(res, problem(500, "internal", "the call could not be answered"));
    }
  };
}

/** write sends a whole reply. Who has gone asks again. */
export function write(res: ServerResponse, reply: Reply): void {
  for (const [name, value] of Object.entries(reply.headers)) res.setHeader(name, value);
  if (reply.contentType) res.setHeader("Content-Type", reply.contentType);
  if (reply.status === 413) res.setHeader("Connection", "close"); // what else the caller sends isn't read
  res.statusCode = reply.status;
  res.end(reply.body);
}
