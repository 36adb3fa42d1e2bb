// What the sections say of the same thing must be the same. The plan's content comes to
// its digest, which the log has; the run's steps are those of the plan.
import type { Json } from "./canonical.js";
import { formats, need } from "./failure.js";
import { asDiffering } from "./differs.js";
import { capability, hasEffect, live, steps } from "./capability.js";
import { at, type Checks, type Claims, digits, exists, has, list, masked, text, whole } from "./claims.js";
import { folding } from "./gaterules.js";
import { noTime } from "./moment.js";
import { asJudged } from "./rules.js";
import { encoded, equal, members, planContent, textOf as of } from "./value.js";
import { asVerified, expectations } from "./verified.js";

export function checkRun(c: Claims): void {
  const mode = of(c.run, "mode");
  need(["COMPLETED", "FAILED", "CANCELLED"].includes(of(c.run, "status")), "run", "the run has not ended");
  need(mode === "LIVE" || mode === "DRY_RUN", "run", "its mode must be DRY_RUN or LIVE");
  need(!exists(at(c.run, "waitingFor")), "run", "it has ended and waits for nothing");
  const wrong = noTime(c.run, "createdAt", "updatedAt", "completedAt", "restoredAt");
  need(wrong === "", "run", `${wrong} must be a time in UTC`);
}

/** Compares the plan with the run, with its digest and with its snapshots; true where masking left something of it out. */
export function checkPlan(c: Claims, { sha256 }: Checks): boolean {
  const digest = of(c.plan, "planDigest");
  need(of(c.plan, "id") === of(c.run, "planId") && digest === of(c.run, "planDigest"), "plan", "it is another plan than the run's");
  need(masked(c) || digest !== "", "plan", "its digest is missing");
  need(of(c.plan, "mode") === of(c.run, "mode"), "plan", "its mode is not the run's");
  need(of(c.plan, "status") === "READY" && list(at(c.plan, "validationErrors")).length === 0, "plan", "it is not READY, so that no run of it could start");
  need(!has(c.plan, "gate") || (c.format !== formats[0] && whole(at(c.plan, "gate")) === folding), "plan", "its gate is of no edition that this format has");
  const computed = sha256(Buffer.from(planContent(c.plan))) === digest;
  need(computed || masked(c), "plan", "its content does not come to its digest");
  checkSnapshots(c);
  return !computed;
}

function checkSnapshots(c: Claims): void {
  const refs = list(at(c.plan, "projects"));
  const known = new Set<string>();
  for (const p of list(at(c.plan, "projectSnapshots"))) {
    const id = of(p, "id");
    const named = refs.some((ref) => of(ref, "id") === id && digits(at(ref, "revision")) === digits(at(p, "revision")));
    need(named && !known.has(id), "plan", `it does not name this snapshot of project ${id}`);
    known.add(id);
    const names = list(at(p, "capabilities")).map((found) => of(found, "name"));
    need(new Set(names).size === names.length, "plan", `project ${id} has a capability twice`);
  }
  for (const ref of refs) need(known.has(of(ref, "id")), "plan", `its snapshot of project ${of(ref, "id")} is missing`);
  const named = (model: Json, by: Json) => of(by, "modelId") === of(model, "id") && digits(at(by, "modelRevision")) === digits(at(model, "revision"));
  const model = at(c.plan, "modelSnapshot");
  need(!exists(model) || named(model, c.plan), "plan", "it does not name this snapshot of its model");
  for (const m of list(at(c.plan, "models"))) {
    need(list(at(c.plan, "agents")).some((a) => named(m, a)), "plan", `it does not name this snapshot of model ${of(m, "id")}`);
  }
}

export const ended = ["COMPLETED", "SIMULATED", "FAILED", "ABANDONED", "CANCELLED", "SKIPPED"];

/** The steps are those of the plan, in its order, and what it says of a step's capability is what the gate went by. */
export function checkSteps(c: Claims): void {
  const planned = list(at(c.plan, "steps"));
  need(planned.length === steps(c).length, "run", "its steps are not those of the plan");
  const known = new Set<string>();
  steps(c).forEach((s, i) => {
    const id = of(s, "id");
    need(id !== "" && !known.has(id), "run", "its steps must have ids, each once");
    known.add(id);
    asPlanned(c, s, planned[i] as Json);
    asCapable(c, s);
    asSent(c, s);
    asDiffering(c, s);
  });
  checkWhole(c);
}

function asPlanned(c: Claims, s: Json, planned: Json): void {
  const step = `step ${of(s, "id")}`;
  for (const name of ["id", "name", "projectId", "capability", "actionId", "agentId"]) {
    need(of(s, name) === of(planned, name), "run", `${step} has another ${name} than in the plan`);
  }
  const dependsOn = (v: Json) => encoded(list(at(v, "dependsOn")));
  need(dependsOn(s) === dependsOn(planned), "run", `${step} has another dependsOn than in the plan`);
  need(of(s, "idempotencyKey") === `${of(c.run, "id")}.${of(s, "id")}`, "run", `${step} has another idempotencyKey than the run's id, a dot and its own id`);
  if (masked(c)) return;
  const bound = at(planned, "inputBindings");
  for (const [name, value] of members(at(planned, "input"))) {
    need(has(bound, name) || equal(value, at(at(s, "input"), name)), "run", `${step} has another input ${name} than in the plan`);
  }
  for (const name of members(at(s, "input")).keys()) {
    need(has(at(planned, "input"), name) || has(bound, name), "run", `${step} has an input ${name} that the plan has not`);
  }
  asVerified(s, expectations(c, s, planned));
}

function asCapable(c: Claims, s: Json): void {
  const step = `step ${of(s, "id")}`;
  const found = capability(c, s);
  need(found !== undefined, "run", `${step} calls the capability ${of(s, "capability")}, which the plan has not`);
  need((at(s, "sideEffect") === true) === hasEffect(found), "run", `${step} has another sideEffect than its capability`);
  asJudged(c, s);
}

/** Compares what a step says of its sendings with its mode and status. */
function asSent(c: Claims, s: Json): void {
  const step = `step ${of(s, "id")}`;
  const status = of(s, "status");
  const completed = status === "COMPLETED" || status === "ABANDONED";
  const answered = ["response", "reconciliation", "late"].some((name) => exists(at(s, name))) || list(at(s, "probes")).length > 0;
  const attempt = whole(at(s, "attempt"));
  need(ended.includes(status), "run", `${step} has a status that no ended run leaves`);
  need(attempt >= 0, "run", `${step} doesn't say how often it was sent`);
  need(live(c) || !(attempt > 0 || completed || answered || exists(at(s, "approvalId"))), "run", `${step} was sent, though the run is a rehearsal`);
  need(!live(c) || status !== "SIMULATED", "run", `${step} was simulated, though the run is LIVE`);
  need(attempt > 0 || !(completed || answered || (exists(at(s, "startedAt")) && live(c))), "run", `${step} is ${status} and was never sent`);
  const error = `${of(at(s, "error"), "code")}: ${of(at(s, "error"), "message")}`;
  need(status !== "FAILED" || masked(c) || error === of(c.run, "error"), "run", `${step} failed for another error than the run`);
  need(noTime(s, "startedAt", "completedAt") === "", "run", `${step} has a time that is not in UTC`);
}

/** Compares the run with its steps. */
function checkWhole(c: Claims): void {
  const done = steps(c).every((s) => ["COMPLETED", "SIMULATED"].includes(of(s, "status")));
  need(of(c.run, "status") !== "COMPLETED" || done, "run", "it is COMPLETED, and a step is not");
  const unverified = steps(c).filter((s) => of(s, "status") === "COMPLETED" && of(at(s, "verification"), "status") === "NOT_REQUESTED").length;
  need(whole(at(c.run, "unverifiedSteps")) === unverified, "run", "unverifiedSteps is not how many steps nothing was asked of");
  const mayHave = steps(c).some((s) => at(s, "mayHaveHappened") === true);
  need((at(c.run, "mayHaveHappened") === true) === mayHave, "run", "mayHaveHappened is not what its steps say");
  const team = at(c.plan, "team");
  const agents = list(at(c.plan, "agents"));
  const agent = agents.length === 1 && !exists(team) ? of(agents[0], "id") : "";
  need(of(c.run, "teamId") === of(team, "id") && of(c.run, "agentId") === agent, "run", "it is of another agent or team than its plan");
}

/** revision is that of a project in the plan, as its digits. */
export function revision(c: Claims, projectId: string): string {
  const ref = list(at(c.plan, "projects")).find((r) => text(at(r, "id")) === projectId);
  return digits(at(ref, "revision"));
}
