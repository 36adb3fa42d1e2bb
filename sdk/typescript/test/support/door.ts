// A door of an agent that answers as it is told.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Countersign, type Tools } from "../../src/index.js";
import { serve } from "./http.js";

export const schema = {
  type: "object",
  properties: { orderId: { type: "string" }, amount: { type: "number" }, task: { type: "string" }, again: { type: "string" } },
  required: ["orderId", "amount"],
  additionalProperties: false,
};
export const refund = { name: "refund", title: "Refund", description: "Pays back.", inputSchema: schema, annotations: { readOnlyHint: false } };
export const status = { name: "run_status", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };

export type Reply = (res: ServerResponse) => void;

export const answering = (value: unknown, code = 200): Reply => (res) => {
  res.writeHead(code, { "Content-Type": "application/json" }).end(typeof value === "string" ? value : JSON.stringify(value));
};
export const rpc = (result: unknown) => answering({ jsonrpc: "2.0", id: 1, result });
export const done = (text: string) => rpc({ content: [{ type: "text", text }], structuredContent: JSON.parse(text) });
export const list = rpc({ tools: [refund] });
export const cut: Reply = (res) => res.destroy();

/** door answers each request by the next reply. */
export async function door(...replies: Reply[]): Promise<{ cs: Countersign; baseUrl: string; seen: { path?: string; accept?: string; body: string }[] }> {
  const seen: { path?: string; accept?: string; body: string }[] = [];
  const baseUrl = await serve(async (req: IncomingMessage, res) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    seen.push({ path: req.url, accept: req.headers.accept, body });
    replies[Math.min(seen.length, replies.length) - 1]?.(res);
  });
  return { cs: new Countersign({ baseUrl, token: "csn_agent" }), baseUrl, seen };
}

/** said is an answer of a call, by the door itself. */
export const said = (outcome: string, more: object = {}): Reply =>
  done(JSON.stringify({ outcome, message: `It is ${outcome}.`, url: null, runId: "run-1", startedAt: "2026-11-28T04:00:00Z", replayed: false, ...more }));

/** tools are those of a door that lists refund and run_status, and then answers by these replies, the last for ever. */
export async function toolsOf(...replies: Reply[]): Promise<{ tools: Tools; seen: { body: string }[] }> {
  const { cs, seen } = await door(rpc({ tools: [refund, status] }), ...replies);
  return { tools: await cs.tools("agt-1"), seen };
}

/** calls are the tool and the arguments of each call that a door has seen. */
export const calls = (seen: { body: string }[]): [string, Record<string, unknown>][] =>
  seen.map(({ body }) => JSON.parse(body)).filter(({ method }) => method === "tools/call").map(({ params }) => [params.name, params.arguments]);
