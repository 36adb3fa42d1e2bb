// The operations end to end: the real service, and a shop behind the receiver kit.
import { beforeAll, describe, expect, test } from "vitest";
import { CountersignError, type PlanWrite } from "../src/index.js";
import { projectId, registerShop, type Service, startService } from "./support/service.js";
import { type Shop, startShop } from "./support/shop.js";

let shop: Shop;
let service: Service;

beforeAll(async () => {
  shop = await startShop();
  service = await startService(shop.url);
  await registerShop(service, shop.url);
});

const refundPlan = (mode: "DRY_RUN" | "LIVE"): PlanWrite => ({
  name: "refund one order",
  modelId: "refund-agent",
  modelRevision: 1,
  mode,
  steps: [
    { id: "read-order", name: "read", projectId, capability: "orders.read", input: { orderId: "A-1" }, expectation: { field: "status", equals: "returned" } },
    {
      id: "refund",
      name: "refund",
      projectId,
      capability: "refunds.create",
      input: { orderId: "A-1", currency: "EUR" },
      dependsOn: ["read-order"],
      inputBindings: { amount: { stepId: "read-order", field: "total" } },
      expectation: { field: "status", equals: "succeeded" },
    },
  ],
});

describe("plans and runs", () => {
  test("a rehearsal sends nothing and ends by itself", async () => {
    const before = shop.calls.length;
    const plan = await service.operator.createPlan(refundPlan("DRY_RUN"));
    const run = await service.operator.waitRun((await service.operator.startRun({ planId: plan.id })).id);
    expect(run.status).toBe("COMPLETED");
    expect(run.steps.map((step) => step.status)).toEqual(["SIMULATED", "SIMULATED"]);
    expect(shop.calls.length).toBe(before);
  });

  test("a LIVE run waits for somebody else's approval and is sent signed, once", async () => {
    const { operator, approver } = service;
    const plan = await operator.createPlan(refundPlan("LIVE"));
    const started = await operator.startRun({ planId: plan.id }, { idempotencyKey: "refund-of-A-1" });
    expect(started.idempotencyKey).toBe("refund-of-A-1");
    const waiting = await operator.waitRun(started.id, { until: "standstill" });
    expect(waiting.status).toBe("WAITING_APPROVAL");
    await approver.decideApproval(waiting.approvalId as string, { decision: "APPROVED", reason: "the order came back" });
    const run = await operator.waitRun(started.id);
    expect(run.status).toBe("COMPLETED");
    const sent = shop.calls.filter((call) => call.runId === run.id && call.method === "POST");
    expect(sent.map((call) => call.idempotencyKey)).toEqual([`${run.id}.refund`]);
    expect(JSON.parse(Buffer.from(sent[0]?.body ?? []).toString())).toEqual({ orderId: "A-1", amount: 249, currency: "EUR" });
    const again = await operator.startRun({ planId: plan.id }, { idempotencyKey: "refund-of-A-1" });
    expect(again.id).toBe(run.id);
  });

  test("a run that is cancelled while it waits ends CANCELLED", async () => {
    const { operator } = service;
    const plan = await operator.createPlan(refundPlan("LIVE"));
    const { id } = await operator.startRun({ planId: plan.id });
    await operator.waitRun(id, { until: "standstill" });
    await operator.cancelRun(id, { reason: "not needed any more" });
    expect((await operator.waitRun(id)).status).toBe("CANCELLED");
  });

  test("the same key with another content is refused, with the key in the error", async () => {
    const { operator } = service;
    const [one, other] = [await operator.createPlan(refundPlan("DRY_RUN")), await operator.createPlan(refundPlan("DRY_RUN"))];
    await operator.startRun({ planId: one.id }, { idempotencyKey: "one-intent" });
    const error = await operator.startRun({ planId: other.id }, { idempotencyKey: "one-intent" }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(CountersignError);
    expect(error).toMatchObject({ code: "idempotency_conflict", status: 409, idempotencyKey: "one-intent" });
  });
});

describe("agents and teams", () => {
  const agent = (externalAgentId: string, capability: string) => ({
    externalAgentId,
    sourceRevision: 1,
    name: externalAgentId,
    role: "tests",
    goal: "the test passes",
    capabilities: [capability],
    modelId: "refund-agent",
  });

  test("synced, admitted, heard, and run as a team", async () => {
    const { admin, operator } = service;
    const manifest = { schemaVersion: "1.0" as const, agents: [agent("reader", "orders.read"), agent("refunder", "refunds.create")] };
    const { items } = await operator.syncAgents(projectId, manifest);
    expect(items.map((item) => item.status)).toEqual(["PENDING", "PENDING"]);
    for (const item of items) await admin.admitAgent(item.id, { reason: "they are ours", expectedRevision: item.revision });
    const [reader, refunder] = items.map((item) => item.id) as [string, string];
    expect((await operator.agents({ projectId, status: "ADMITTED" })).total).toBe(2);

    const beat = { instanceId: "reader-1", sequence: 1, state: "BUSY" as const, timestamp: new Date().toISOString() };
    expect(await operator.heartbeat(reader, beat)).toMatchObject({ acknowledged: true, duplicate: false, liveness: "BUSY" });
    expect((await operator.heartbeat(reader, beat)).duplicate).toBe(true);
    await expect(operator.heartbeat(reader, { ...beat, sequence: 0 })).rejects.toMatchObject({ code: "sequence_conflict" });

    const team = await operator.saveTeam("desk", {
      name: "Desk",
      expectedRevision: 0,
      members: [
        { agentId: reader, role: "reads" },
        { agentId: refunder, role: "refunds" },
      ],
      steps: [{ id: "read", name: "read", agentId: reader, capability: "orders.read", input: { orderId: "A-1" }, expectation: { field: "status", equals: "returned" } }],
    });
    expect((await operator.teams()).items.map((item) => item.id)).toEqual(["desk"]);
    const run = await operator.startTeamRun("desk", { expectedRevision: team.revision, mode: "LIVE" });
    expect((await operator.waitRun(run.id)).status).toBe("COMPLETED");

    const alone = await operator.startAgentRun(reader, {
      expectedRevision: items[0]?.revision ?? 0,
      mode: "LIVE",
      capability: "orders.read",
      inputs: { orderId: "A-2" },
      expectation: { field: "status", equals: "returned" },
    });
    expect((await operator.waitRun(alone.id)).steps[0]?.verification?.status).toBe("PASSED");
  });

  test("the heartbeat loop goes above what its instance used before", async () => {
    const { admin, operator } = service;
    const { items } = await operator.syncAgents(projectId, { schemaVersion: "1.0", agents: [agent("beater", "orders.read")] });
    const agentId = items[0]?.id as string;
    const ahead = Date.now() + 3_600_000; // by a clock that was an hour ahead
    await operator.heartbeat(agentId, { instanceId: "beater-1", sequence: ahead, state: "IDLE", timestamp: new Date().toISOString() });
    const errors: unknown[] = [];
    const acknowledged = await new Promise<number>((heard) => {
      const loop = operator.startHeartbeat({ agentId, instanceId: "beater-1", intervalMs: 50, onError: (e) => errors.push(e), onBeat: (ack) => void loop.stop().then(() => heard(ack.sequence)) });
    });
    expect(acknowledged).toBe(ahead + 1);
    expect(errors).toMatchObject([{ code: "sequence_conflict" }]);
    expect((await admin.agent(agentId)).liveness).toBe("ONLINE");
  });
});

describe("what the service says of itself", () => {
  test("projects and the contract", async () => {
    expect((await service.operator.projects()).items.map((item) => item.id)).toEqual([projectId]);
    const contract = await service.operator.integrationContract();
    for (const operation of contract.sdkOperations as string[]) expect(service.operator).toHaveProperty(operation);
  });
});
