// The back end of the shop's agents: it registers two of them, says that they live,
// makes a team of them and starts its run. The project is that of shop.mjs.
//
//   COUNTERSIGN_URL=http://127.0.0.1:8080 COUNTERSIGN_TOKEN=... node examples/typescript/agents.mjs DRY_RUN A-48377
//
// The token is an OPERATOR's. Agents that nobody has admitted yet can't be in a
// team: the first time it ends with the ids to admit, in the console or by an ADMIN's
// admitAgent.
import { Countersign, CountersignError } from "../../sdk/typescript/dist/index.js";

const { COUNTERSIGN_URL = "http://127.0.0.1:8080", COUNTERSIGN_TOKEN = "" } = process.env;
const [, , mode = "DRY_RUN", orderId = "A-48377"] = process.argv;
const projectId = "default-shop";

const manifest = {
  schemaVersion: "1.0",
  agents: [
    {
      externalAgentId: "assessor",
      sourceRevision: 1,
      name: "Assessor",
      role: "reads orders",
      goal: "It is known what an order's state and total are.",
      capabilities: ["orders.read"],
      modelId: "refund-agent",
    },
    {
      externalAgentId: "refunder",
      sourceRevision: 1,
      name: "Refunder",
      role: "pays back",
      goal: "A returned order is paid back once.",
      capabilities: ["refunds.create"],
      executorInputs: { "refunds.create": { currency: "EUR" } }, // fixed: no run can say otherwise
      modelId: "refund-agent",
    },
  ],
};

const steps = (assessor, refunder) => [
  {
    id: "read-order",
    name: "Read the order",
    agentId: assessor.id,
    capability: "orders.read",
    input: { orderId },
    expectation: { field: "status", equals: "returned" },
  },
  {
    id: "refund",
    name: "Pay it back",
    agentId: refunder.id,
    capability: "refunds.create",
    input: { orderId },
    dependsOn: ["read-order"],
    inputBindings: { amount: { stepId: "read-order", field: "total" } }, // once that is verified
    expectation: { field: "status", equals: "succeeded" },
  },
];

/** deskOf is the team that an earlier start created, or a new one. */
async function deskOf(cs, assessor, refunder) {
  const members = [
    { agentId: assessor.id, role: "assesses" },
    { agentId: refunder.id, role: "refunds" },
  ];
  const team = await found(cs.team("returns-desk"));
  return team ?? cs.saveTeam("returns-desk", { name: "Returns desk", expectedRevision: 0, members, steps: steps(assessor, refunder) });
}

/** found is nothing where there is no such record. */
async function found(read) {
  try {
    return await read;
  } catch (error) {
    if (error instanceof CountersignError && error.code === "not_found") return undefined;
    throw error;
  }
}

async function main() {
  const cs = new Countersign({ baseUrl: COUNTERSIGN_URL, token: COUNTERSIGN_TOKEN });
  const { items } = await cs.syncAgents(projectId, manifest); // in the manifest's order; again and again is fine
  const [assessor, refunder] = items;
  const pending = items.filter((agent) => agent.status !== "ADMITTED");
  if (pending.length > 0) {
    console.log(`to be admitted: ${pending.map((agent) => agent.id).join(" ")}`);
    return;
  }
  const loops = items.map((agent) => cs.startHeartbeat({ agentId: agent.id, instanceId: `${agent.externalAgentId}-1`, state: () => "BUSY", onError: console.error }));
  try {
    const team = await deskOf(cs, assessor, refunder);
    const inputs = { "read-order": { orderId }, refund: { orderId } }; // instead of the team's own
    // The key is the intent: starting this again finds the same run.
    const started = await cs.startTeamRun(team.id, { expectedRevision: team.revision, mode, inputs }, { idempotencyKey: `refund-${orderId}-${mode}` });
    console.log(`run ${started.id}`);
    const run = await cs.waitRun(started.id, { until: "standstill", signal: AbortSignal.timeout(60_000) });
    console.log(`${run.status} ${run.steps.map((step) => `${step.id}=${step.status}`).join(" ")}`);
  } finally {
    await Promise.all(loops.map((loop) => loop.stop()));
  }
}

await main();
