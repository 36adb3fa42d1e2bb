// What a precondition read is that on which it was approved, and was read before it was sent: as
// far as the log has it. Masking leaves it out.
import { createHash } from "node:crypto";
import type { Json } from "./canonical.js";
import { capability, live, steps } from "./capability.js";
import { at, type Claims, exists, has, list } from "./claims.js";
import { need } from "./failure.js";
import { letOut, type Sendings } from "./gate.js";
import { judge } from "./gaterules.js";
import { moment } from "./moment.js";
import { type AuditRecord, word } from "./record.js";
import { gated } from "./rules.js";
import { encoded, textOf as of } from "./value.js";

/** Compares the states of approvals and steps with the log. */
export function checkStates(c: Claims, records: AuditRecord[], decided: Sendings["decided"]): void {
  if (at(c.statement, "masked") === true) return;
  for (const a of list(c.approvals)) asRead(c, a, records, decided);
  for (const s of steps(c)) {
    const pre = at(capability(c, s), "precondition");
    if (exists(pre) && live(c)) sentOnState(c, s, pre, records, decided);
  }
}

const digestOf = (v: Json | undefined): string =>
  createHash("sha256").update(encoded(new Map<string, Json>([["capability", of(v, "capability")], ["fields", at(v, "values") ?? new Map<string, Json>()]]))).digest("hex");

function asRead(c: Claims, a: Json, records: AuditRecord[], decided: Sendings["decided"]): void {
  const [id, digest, state] = [of(a, "id"), of(a, "stateDigest"), at(a, "state")];
  const check = (ok: boolean, problem: string) => need(ok, "approvals", `approval ${id} ${problem}`);
  check(exists(state) === (digest !== "") && (digest === "" || digestOf(state) === digest), "shows another state than the one of its stateDigest");
  const step = steps(c).find((s) => of(s, "id") === of(a, "stepId"));
  check(digest === "" || (step !== undefined && exists(at(capability(c, step), "precondition"))), "shows a state, and its capability has no precondition");
  for (const d of list(at(a, "decisions"))) {
    check(at(d, "left") === true || of(d, "by") === "system" || of(d, "stateDigest") === digest, "counts a decision on another state");
  }
  const record = records[decided.get(id) ?? -1];
  check(record === undefined || word(record, "action") !== "approvals.decide" || word(record, "stateDigest") === digest, "was decided on another state, as the log says");
}

const fits = (r: AuditRecord, action: string, step: string): boolean => word(r, "outcome") === "done" && word(r, "action") === action && word(r, "step") === step;

function sentOnState(c: Claims, s: Json, pre: Json, records: AuditRecord[], decided: Sendings["decided"]): void {
  const id = of(s, "id");
  const check = (ok: boolean, problem: string) => need(ok, "approvals", `step ${id} ${problem}`);
  const looks = list(at(s, "looks")).filter((l) => has(l, "values"));
  check(looks.every((l) => digestOf(l) === of(l, "stateDigest")), "shows another state than the one of its look's stateDigest");
  let [attempt, last] = [0, ""];
  records.forEach((r, sending) => {
    if (!fits(r, "step.send", id)) return;
    attempt++;
    last = word(r, "stateDigest");
    check(last !== "" && lookedBefore(records, id, last, sending), "was sent, and the log does not say that this state was read within ten seconds before");
    const approved = letOut(c, s, attempt).some((a) => (decided.get(of(a, "id")) ?? sending) < sending && of(a, "stateDigest") === last && at(a, "superseded") !== true);
    check(!gated(c, s) || approved, "was sent on another state than the one that was approved");
  });
  check(last === of(s, "stateDigest"), "says that it was sent on another state than the log");
  if (last === "") return;
  const look = looks.find((l) => of(l, "stateDigest") === last);
  check(look !== undefined, "does not show the state on which it was sent");
  const when = at(pre, "when");
  const holds = !exists(when) || judge(0, [new Map<string, Json>([["when", when], ["then", "ALLOW"]])], true, at(look, "values"), []).then === "ALLOW";
  check(holds, "was sent on a state in which what must be so does not hold");
}

const tenSeconds = 10_000_000_000n;

/** nanoseconds of a time in UTC since 1970. */
function nanoseconds(time: string): bigint | undefined {
  const form = moment(time);
  return form === "" ? undefined : BigInt(Date.parse(`${form.slice(0, 19)}Z`)) * 1_000_000n + BigInt(form.slice(20));
}

/** last is the place of the last record before another that is wanted, -1 for none. */
function last(records: AuditRecord[], before: number, wanted: (r: AuditRecord) => boolean): number {
  let place = before - 1;
  while (place >= 0 && !wanted(records[place] as AuditRecord)) place--;
  return place;
}

/** Whether the last look before a sending found this state, and began ten seconds before at most. */
function lookedBefore(records: AuditRecord[], id: string, digest: string, sending: number): boolean {
  const looked = last(records, sending, (r) => fits(r, "steps.looked", id) && word(r, "actor") === "system");
  const found = records[looked];
  if (found === undefined || word(found, "stateDigest") !== digest) return false;
  const key = word(found, "reason").split(": ")[0];
  const began = records[last(records, looked, (r) => fits(r, "steps.look", id) && word(r, "reason") === key)];
  const [from, to] = [nanoseconds(word(began ?? {}, "at")), nanoseconds(word(records[sending] ?? {}, "at"))];
  return from !== undefined && to !== undefined && to - from <= tenSeconds;
}
