// Compares what the log says of the course of the run with what the run says.
import { ended } from "./agree.js";
import type { Json } from "./canonical.js";
import { differsWords } from "./differs.js";
import { need } from "./failure.js";
import { hides, live, steps } from "./capability.js";
import { at, type Claims, exists, list, masked, text } from "./claims.js";
import { type AuditRecord, word } from "./record.js";
import { saysReason } from "./redacted.js";
import { equal, textOf as of } from "./value.js";

const about = (r: AuditRecord, action: string, step: string): boolean => word(r, "outcome") === "done" && word(r, "action") === action && word(r, "step") === step;

/** Whether an object of a record has the very members, all of them texts, that one of a section has; or neither is there. */
function sameTexts(found: unknown, shown: Json | undefined): boolean {
  if (found === undefined || found === null || !exists(shown)) return !exists(shown) && (found === undefined || found === null);
  if (typeof found !== "object" || !(shown instanceof Map)) return false;
  const own = Object.entries(found);
  return own.length === shown.size && own.every(([name, value]) => typeof value === "string" && shown.get(name) === value);
}

/** Finds the record of the run's start: in which mode, of which plan, by whom and why. */
export function checkStarted(c: Claims, records: AuditRecord[]): void {
  const [identity, behalf, asker] = [at(c.run, "identity"), at(c.run, "onBehalfOf"), of(c.run, "requestedBy")];
  const byAgent = asker.startsWith("agent:");
  const owns = byAgent === exists(identity) && (!byAgent || asker === `agent:${of(c.run, "agentId")}`) && (byAgent || !exists(behalf));
  need(owns, "audit", "the run has an identity that is not that of the agent who asked");
  const digest = of(c.run, "planDigest");
  const [team, agent] = [of(c.run, "teamId"), of(c.run, "agentId")];
  const by = team !== "" ? ` by team ${team}` : agent !== "" ? ` by agent ${agent}` : "";
  const why = of(c.run, "reason");
  const reason = `${of(c.run, "mode")} of plan ${of(c.run, "planId")}${by}${why === "" ? "" : ": "}`;
  const starts = records.filter((r) => about(r, "runs.start", ""));
  for (const r of starts) {
    const same = word(r, "digest") === digest && saysReason(c, r, reason, why) && word(r, "actor") === asker;
    const alike = sameTexts(r["identity"], identity) && sameTexts(r["onBehalfOf"], behalf);
    need(same && alike, "audit", "the log says that another run was started: another plan, mode, requester or reason");
  }
  need(starts.length === 1 || (starts.length === 0 && digest === ""), "audit", "the log has no start of this run with this plan");
}

const asking = ["step.send", "step.complete", "step.restart", "steps.late", "runs.reconcile", "runs.probe", "steps.ask", "steps.withdraw", "steps.statement", "steps.settle", "runs.settle", "approval.request", "approvals.decide", "approval.close"];
const rehearsing = ["step.simulate"];

/** Each record of something that was done to a step is of one of the run's, and is what a run of its mode does. */
export function checkRecords(c: Claims, records: AuditRecord[]): void {
  const known = new Set(steps(c).map((s) => of(s, "id")));
  const none = live(c) ? rehearsing : asking;
  for (const r of records.filter((found) => word(found, "outcome") === "done")) {
    const [step, action] = [word(r, "step"), word(r, "action")];
    need(step === "" ? !action.startsWith("step.") : known.has(step), "audit", `the log says ${action} of step ${step}, which the run has not`);
    need(!none.includes(action), "audit", `the log says ${action}, which no run does that is ${of(c.run, "mode")}`);
  }
}

/** Compares how the run ended with the last record of that, and whether it was asked to. */
export function checkEnd(c: Claims, records: AuditRecord[], leftOut: number): void {
  const status = of(c.run, "status");
  const end = records.filter((r) => word(r, "outcome") === "done" && ["run.complete", "run.fail", "run.cancel"].includes(word(r, "action"))).at(-1);
  const cancel = records.some((r) => about(r, "runs.cancel", ""));
  const asked = at(c.run, "cancelRequested") === true;
  const unknown = masked(c) && leftOut > 0;
  need(end === undefined ? unknown : word(end, "after") === status, "audit", `the log does not say that the run ended ${status}`);
  need(end === undefined || word(end, "at") === of(c.run, "completedAt"), "audit", "the log does not say that the run ended when it says");
  need(end === undefined || masked(c) || word(end, "reason") === of(c.run, "error"), "audit", "the log does not say that the run ended for this error");
  need(cancel === asked || (!cancel && unknown), "audit", "the log does not say that cancelling the run was asked for, or says so");
}

/** Compares what a person found out about a step with the last record of that. */
export function checkReconciled(c: Claims, s: Json, records: AuditRecord[]): void {
  if (hides(c, s)) return;
  const id = of(s, "id");
  const r = at(s, "reconciliation");
  const last = records.filter((found) => about(found, "runs.reconcile", id)).at(-1);
  if (last === undefined && !exists(r)) return;
  const same =
    last !== undefined &&
    word(last, "digest") === of(s, "requestDigest") &&
    saysReason(c, last, `${of(r, "resolution")}: `, of(r, "evidence"), differsWords(r)) &&
    word(last, "actor") === of(r, "by") &&
    word(last, "at") === of(r, "at");
  need(same, "audit", `the log does not say that step ${id} was reconciled so`);
}

/** Compares the status of a step with the last record that settles it. A masked receipt lacks some of them. */
export function checkOutcome(c: Claims, s: Json, records: AuditRecord[], leftOut: number): void {
  if (masked(c) && leftOut > 0) return;
  const [id, status] = [of(s, "id"), of(s, "status")];
  const last = records.filter((r) => ["step.send", "step.complete", "step.simulate", "runs.reconcile", "steps.settle"].some((action) => about(r, action, id))).at(-1);
  const action = last === undefined ? "" : word(last, "action");
  const after = last === undefined ? "" : word(last, "after");
  const settled = ended.includes(after) ? after : "";
  const said = ["COMPLETED", "SIMULATED", "ABANDONED"].includes(status);
  need(settled === "" ? !said : settled === status, "audit", `the log does not say that step ${id} is ${status}`);
  if (last === undefined) return checkProbes(s, records);
  const judged = action !== "step.complete" || word(last, "reason") === of(at(s, "verification"), "status");
  need(judged, "audit", `the log does not say how step ${id} was verified`);
  const rehearsed = action !== "step.simulate" || (word(last, "digest") === of(s, "requestDigest") && word(last, "at") === of(s, "startedAt"));
  need(rehearsed, "audit", `the log does not say that step ${id} rehearsed this request`);
  need(settled === "" || word(last, "at") === of(s, "completedAt"), "audit", `the log does not say that step ${id} ended when it says`);
  checkProbes(s, records);
}

/** The log has each probe of a step, by whom. */
function checkProbes(s: Json, records: AuditRecord[]): void {
  const by = records.filter((r) => about(r, "runs.probe", of(s, "id"))).map((r) => word(r, "actor"));
  const shown = list(at(s, "probes")).map((p) => text(at(p, "by")));
  need(equal(by, shown), "audit", `the log does not say that step ${of(s, "id")} was probed so`);
}
