// Has a team refund an order, and answers what the run asks.
import { readFileSync } from "node:fs";
import { Countersign, CountersignError, type Run } from "@countersign/sdk";

const as = (name: string) => new Countersign({ baseUrl: process.env.COUNTERSIGN_URL ?? "", token: process.env[name] ?? "" });
const [backEnd, alive] = [as("OPERATOR_TOKEN"), as("AGENTS_TOKEN")];
const [admin, reviewer] = [as("ADMIN_TOKEN"), as("REVIEWER_TOKEN")];

const { items: agents } = await backEnd.syncAgents("default-shop", JSON.parse(readFileSync("manifest.json", "utf8")));
const [assessor, refunder] = agents; // in the manifest's order
if (!assessor || !refunder) throw new Error("the manifest has two agents");
for (const agent of agents) {
  if (agent.status !== "ADMITTED") await admin.admitAgent(agent.id, { reason: "its manifest was read" });
}
const loops = agents.map((agent) =>
  alive.startHeartbeat({ agentId: agent.id, instanceId: `${agent.externalAgentId}-0`, onError: console.error }),
);

const team = await desk(assessor.id, refunder.id);
// The body belongs to the key, its revision too: store both before the start, and repeat with both.
const started = await backEnd.startTeamRun(
  team.id,
  { expectedRevision: team.revision, mode: "LIVE", inputs: { "read-order": { orderId: "A-48377" }, refund: { orderId: "A-48377" } } },
  { idempotencyKey: "refund-of-A-48377-by-program" },
);
let run = await backEnd.waitRun(started.id, { until: "standstill" });
while (run.waitingFor) {
  await review(run);
  run = await backEnd.waitRun(run.id, { until: "standstill" });
}
for (const step of run.steps) console.log(step.id, step.status);
console.log(run.status, run.error ?? "");
await Promise.all(loops.map((loop) => loop.stop()));

/** desk is the team, made where it isn't there yet. */
async function desk(assessor: string, refunder: string) {
  try {
    return await backEnd.team("desk-in-typescript");
  } catch (error) {
    if (!(error instanceof CountersignError && error.code === "not_found")) throw error;
  }
  const input = { orderId: "A-48213" };
  return backEnd.saveTeam("desk-in-typescript", {
    name: "Returns desk",
    members: [{ agentId: assessor, role: "assessor" }, { agentId: refunder, role: "refunder" }],
    steps: [
      {
        id: "read-order", name: "Read the order", agentId: assessor, capability: "orders.read", input,
        expectation: { field: "status", equals: "returned" },
      },
      {
        id: "refund", name: "Refund the order", agentId: refunder, capability: "refunds.create", input,
        dependsOn: ["read-order"], inputBindings: { amount: { stepId: "read-order", field: "total" } },
        expectation: { field: "status", equals: "succeeded" },
      },
    ],
  });
}

/** review does what a person does in the console: look first, then answer. */
async function review({ id, waitingFor }: Run) {
  if (waitingFor?.kind === "approval") {
    const { id: approval, request } = await reviewer.approval(waitingFor.approvalId ?? "");
    console.log("asked:", request.method, request.url, JSON.stringify(request.body));
    await reviewer.decideApproval(approval, { decision: "APPROVED", reason: "the goods are back" });
  } else if (waitingFor?.kind === "reconcile") {
    const probed = await reviewer.probeRun(id, { stepId: waitingFor.stepId });
    const step = probed.steps.find((s) => s.id === waitingFor.stepId);
    const { refunds = [] } = (step?.probes?.at(-1)?.output ?? {}) as { refunds?: { key: string; status: string }[] };
    const refund = refunds.find(({ key }) => key === step?.idempotencyKey);
    if (!refund) throw new Error("the shop shows no refund: a person must find out whether one can still come");
    await reviewer.reconcileRun(id, {
      resolution: "CONFIRMED_COMPLETED",
      evidence: "the shop lists a refund of this key",
      output: { status: refund.status },
    });
  }
}
