// The real service behind an address that outlives its restarts, an API that answers as its
// requests say, and an agent that is admitted for it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Countersign, type ProjectWrite, type Run, type ToolAnswer, type Tools } from "../../src/index.js";
import { atEnd } from "./end.js";
import { serve } from "./http.js";
import { lines } from "./lines.js";
import type { Program } from "./process.js";
import { bootstrap, projectId, serveStore } from "./service.js";

export interface Desk {
  url: string;
  agentId: string;
  /** Of the agent. */
  token: string;
  agent: Countersign;
  tools(): Promise<Tools>;
  /** waiting is the run that waits for a person with this order, once there is one. */
  waiting(orderId: string): Promise<Run>;
  decide(run: { id: string }, decision: "APPROVED" | "REJECTED", suggestedInput?: Record<string, unknown>): Promise<void>;
  run(id: string): Promise<Run>;
  /** stop holds all that would be sent, until it is lifted. */
  stop(): Promise<void>;
  go(): Promise<void>;
  /** restart kills the service and starts it anew on what it had stored. */
  restart(): Promise<void>;
  /** sent are the requests that reached the API with this order or text. */
  sent(about: string): Sent[];
}

export interface Sent {
  method: string;
  path: string;
  body: string;
}

const text = { type: "string", required: true } as const;
const optional = (type: string) => ({ type, required: false });
const capability = (name: string, method: string, path: string, more: object) => ({ name, method, path, ...more });
const limit = { when: { kind: "predicate", variableId: "amount", operator: "gt", value: 1000 }, then: "DENY", reason: "the desk pays back up to 1000" };

const project = (baseUrl: string): ProjectWrite =>
  ({
    name: "Desk",
    adapter: "HTTP_JSON",
    baseUrl,
    healthPath: "/health",
    auth: { type: "HMAC", credentialEnv: "SHOP_SECRET" },
    capabilities: [
      capability("read", "GET", "/orders/{orderId}", { description: "One order.", inputSchema: { orderId: text } }),
      capability("search", "GET", "/orders", { description: "Orders of a customer.", inputSchema: { email: text, limit: optional("number"), open: optional("boolean") } }),
      capability("refund", "POST", "/refunds", {
        description: "Pays an order back.",
        approval: "ALWAYS",
        approvalRules: [limit],
        expectation: { field: "status", equals: "succeeded" },
        inputSchema: { orderId: text, amount: { type: "number", required: true, minimum: 0.01, maximum: 5000 }, note: optional("string") },
      }),
      capability("note", "POST", "/notes", {
        description: "Keeps a note with an order.",
        approval: "NONE",
        expectation: { field: "kept", equals: true },
        inputSchema: { orderId: text, text, tags: optional("array") },
      }),
      capability("cancel", "DELETE", "/orders/{orderId}", { description: "Cancels an order.", approval: "ALWAYS", expectation: { field: "kept", equals: true }, inputSchema: { orderId: text } }),
      capability("move", "PATCH", "/orders/{orderId}/address", {
        description: "Changes where an order goes.",
        approval: "NONE",
        expectation: { field: "kept", equals: true },
        inputSchema: { orderId: text, address: { type: "object", required: true } },
      }),
      capability("voucher", "POST", "/vouchers", { description: "Makes a voucher.", approval: "NONE", inputSchema: { percent: { type: "number", required: true, minimum: 1, maximum: 30 } } }),
    ],
  }) as never;

/** startDesk starts all of it, until the file's tests are over. */
export async function startDesk(settings: Record<string, string> = {}): Promise<Desk> {
  const seen: Sent[] = [];
  const shop = await serve(async (req, res) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    const { method = "", url: path = "" } = req;
    if (path !== "/health") seen.push({ method, path, body });
    const said = answered(method, path, body);
    if (!said) return void res.destroy();
    res.writeHead(said[0], { "Content-Type": "application/json" }).end(JSON.stringify(said[1]));
  });
  const folder = mkdtempSync(join(tmpdir(), "countersign-desk-"));
  const line = await lines();
  let program: Program;
  const start = async () => {
    program = await serveStore(folder, shop, settings);
    line.to(program.url);
  };
  await start();
  atEnd(async () => {
    await program.stop();
    rmSync(folder, { recursive: true });
  });
  const client = (token = bootstrap) => new Countersign({ baseUrl: line.origin, token });
  const admin = client();
  const operator = client((await admin.createToken({ name: "operator", roles: ["OPERATOR"] })).token);
  const approver = client((await admin.createToken({ name: "approver", roles: ["APPROVER"] })).token);
  const { revision } = await admin.saveProject(projectId, project(shop));
  await admin.checkProjectHealth(projectId);
  await admin.enableProject(projectId, { expectedRevision: revision });
  const item = { externalAgentId: "clerk", sourceRevision: 1, name: "Clerk", role: "tests", goal: "it is told the truth", capabilities: ["read", "search", "refund", "note", "cancel", "move", "voucher"] };
  const agentId = (await operator.syncAgents(projectId, { schemaVersion: "1.0", agents: [item] })).items[0]?.id as string;
  await admin.admitAgent(agentId, { reason: "it is ours" });
  const { token } = await admin.createToken({ name: "clerk", roles: ["OPERATOR"], agentIds: [agentId] });
  const agent = client(token);
  const waiting = async (orderId: string): Promise<Run> => {
    for (;;) {
      for (const { id } of (await admin.runs({ status: "WAITING_APPROVAL" })).items) {
        const run = await admin.run(id);
        if (JSON.stringify(run).includes(JSON.stringify(orderId))) return run;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return {
    url: line.origin,
    agentId,
    token,
    agent,
    tools: () => agent.tools(agentId),
    waiting,
    run: (id) => admin.run(id),
    decide: async ({ id }, decision, suggestedInput) => {
      const { approvalId } = await admin.run(id);
      await approver.decideApproval(approvalId as string, { decision, reason: "seen", ...(suggestedInput ? { suggestedInput } : {}) });
    },
    stop: async () => void (await admin.stop({ reason: "a test" })),
    go: async () => void (await admin.go({ reason: "a test" })),
    restart: async () => {
      line.to(undefined);
      await program.stop("SIGKILL");
      await start();
    },
    sent: (about) => seen.filter((one) => `${one.path} ${one.body}`.includes(about)),
  };
}

/** answered is what the API answers: as what it is asked says, undefined where the answer is lost. */
function answered(method: string, path: string, body: string): [number, object] | undefined {
  const asked = `${path} ${body}`;
  if (path === "/health") return [200, {}];
  if (asked.includes("lost")) return undefined;
  if (asked.includes("missing")) return [404, { error: "there is no such order" }];
  if (asked.includes("refused")) return [422, { error: "the order is closed" }];
  if (path.startsWith("/orders?")) return [200, { orders: [] }];
  if (method === "GET") return [200, { id: path.slice("/orders/".length), status: "returned" }];
  const kept = !asked.includes("pending");
  return [200, { kept, status: kept ? "succeeded" : "pending" }];
}

/** answerIn is the door's answer in what a model was told, however its framework wraps it. */
export function answerIn(told: unknown): ToolAnswer {
  const text = typeof told === "string" ? told : JSON.stringify(told);
  for (let at = text.indexOf("{"); at >= 0; at = text.indexOf("{", at + 1)) {
    try {
      const value = JSON.parse(text.slice(at, text.lastIndexOf("}") + 1));
      if (typeof value.outcome === "string") return value;
    } catch {
      // it begins further on
    }
  }
  const inner = typeof told === "object" && told !== null ? Object.values(told).find((value) => typeof value === "object" || (typeof value === "string" && value.includes("outcome"))) : undefined;
  if (inner !== undefined) return answerIn(inner);
  throw new Error(`the model was told nothing of the door's: ${text}`);
}
