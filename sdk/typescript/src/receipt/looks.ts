// The reads that were made for a step's precondition: each has its records, and each sending rests
// on the last of them.
import type { Json } from "./canonical.js";
import { live, steps } from "./capability.js";
import { at, type Claims, digits, exists, has, list, masked, whole } from "./claims.js";
import { need } from "./failure.js";
import { letOut } from "./gate.js";
import { judge } from "./gaterules.js";
import { moment } from "./moment.js";
import { type AuditRecord, word } from "./record.js";
import { gated } from "./rules.js";
import { type Course, fits, found, isState, lookKey, preconditionOf, stateDigestOf } from "./states.js";
import { equal, textOf as of } from "./value.js";

type Check = (ok: boolean, problem: string) => void;

/** Compares the looks of each step with its precondition and with the log. */
export function checkLooks(c: Claims, log: Course): void {
  if (masked(c)) return;
  for (const s of steps(c)) {
    const check: Check = (ok, problem) => need(ok, "run", `step ${of(s, "id")} ${problem}`);
    asLooked(c, s, check);
    lookRecords(s, log.records, check);
  }
}

/** Compares what was sent with what was looked at, and on what it was approved. */
export function checkSendings(c: Claims, log: Course): void {
  if (masked(c)) return;
  for (const s of steps(c)) sentOnState(c, s, log, (ok, problem) => need(ok, "approvals", `step ${of(s, "id")} ${problem}`));
}

/** Checks the looks of a step by themselves. */
function asLooked(c: Claims, s: Json, check: Check): void {
  const [pre, would, looks] = [preconditionOf(c, s), at(s, "wouldCheck"), list(at(s, "looks"))];
  check(exists(would) === (exists(pre) && of(s, "status") === "SIMULATED"), "says what would be looked at where nothing would, or doesn't say it");
  const asked = of(would, "capability") === of(pre, "capability") && equal(at(would, "fields"), at(pre, "fields")) && equal(at(would, "when"), at(pre, "when"));
  check(!exists(would) || asked, "says that something else would be looked at than its precondition");
  const any = looks.length > 0 || of(s, "stateDigest") !== "" || whole(at(s, "askedAgain")) > 0;
  check(!any || (live(c) && exists(pre)), "was looked at, and its capability has no precondition");
  looks.forEach((l, i) => {
    const digest = of(l, "stateDigest");
    check(whole(at(l, "n")) === i + 1 && of(l, "capability") === of(pre, "capability") && moment(of(l, "at")) !== "", "has a look that is not one of its precondition, with a number and at a time");
    check(!has(l, "values") || (isState(pre, l) && stateDigestOf(l) === digest), "shows another state than the one of its look's stateDigest");
    check(digest === "" || found(s, digest) !== undefined, "has a look whose state it does not show");
    check(digest !== "" || of(l, "error") !== "" || whole(at(l, "statusCode")) <= 0, "has a look that was answered, and does not say what it found");
  });
  check(Math.max(0, whole(at(s, "askedAgain"))) === askedAgain(c, s), "says that it was asked for anew as often as it was not");
}

/** How often approval of a step's next sending was asked for anew since the state had changed. */
function askedAgain(c: Claims, s: Json): number {
  const last = list(c.approvals).filter((a) => of(a, "stepId") === of(s, "id") && whole(at(a, "attempt")) === whole(at(s, "attempt")) + 1).at(-1);
  return Math.max(0, whole(at(last, "askedAgain")));
}

/** Compares each look with the records of its intent and of what came of it; there are no others. */
function lookRecords(s: Json, records: AuditRecord[], check: Check): void {
  const id = of(s, "id");
  const looks = list(at(s, "looks"));
  let ends = records.filter((r) => fits(r, "steps.looked", id)).length;
  for (const l of looks) {
    const [by, error] = [of(l, "by"), of(l, "error")];
    const [action, actor] = by === "" ? ["steps.look", "system"] : ["approvals.look", by];
    const place = (from: number, act: string, reason: string, digest: string) =>
      records.findIndex((r, i) => i >= from && fits(r, act, id) && word(r, "digest") === of(l, "requestDigest") && word(r, "actor") === actor && word(r, "reason") === reason && word(r, "stateDigest") === digest);
    const begun = place(0, action, lookKey(s, l), "");
    check(begun >= 0 && moment(word(records[begun] ?? {}, "at")) === moment(of(l, "at")), "has a look of which the log does not say that it was let out so");
    if (error === "" && of(l, "stateDigest") === "") continue; // nobody knows what came of it
    const came = error === "" ? `answered ${digits(at(l, "statusCode"))}` : error;
    check(place(begun, "steps.looked", `${lookKey(s, l)}: ${came}`, of(l, "stateDigest")) >= 0, "has a look that found something else than the log says");
    ends--;
  }
  const begins = records.filter((r) => fits(r, "steps.look", id) || fits(r, "approvals.look", id)).length;
  check(begins === looks.length && ends === 0, "was looked at more often than it says, as the log has it");
}

/** Each sending rests on a look of ten seconds before at most, on what must be so, and where it needed approval on one of the very state that the look found. */
function sentOnState(c: Claims, s: Json, { records, decided }: Course, check: Check): void {
  const [id, pre] = [of(s, "id"), preconditionOf(c, s)];
  let [attempt, last] = [0, ""];
  records.forEach((r, sending) => {
    if (!fits(r, "step.send", id)) return;
    attempt++;
    last = word(r, "stateDigest");
    check(exists(pre) || last === "", "was sent on a state, as the log says, and its capability has no precondition");
    if (!exists(pre)) return;
    check(last !== "" && lookedBefore(records, id, last, sending), "was sent, and the log does not say that this state was read within ten seconds before");
    const approved = letOut(c, s, attempt).some((a) => (decided.get(of(a, "id")) ?? sending) < sending && of(a, "stateDigest") === last && at(a, "superseded") !== true);
    check(!gated(c, s) || approved, "was sent on another state than the one that was approved");
    check(holdsOver(pre, found(s, last)), "was sent on a state in which what must be so does not hold");
  });
  check(last === of(s, "stateDigest"), "says that it was sent on another state than the log");
}

function holdsOver(pre: Json, look: Json | undefined): boolean {
  const when = at(pre, "when");
  if (!exists(when) || look === undefined) return look !== undefined;
  return judge(0, [new Map<string, Json>([["when", when], ["then", "ALLOW"]])], true, at(look, "values"), []).then === "ALLOW";
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
  const record = records[looked];
  if (record === undefined || word(record, "stateDigest") !== digest) return false;
  const key = word(record, "reason").split(": ")[0] as string;
  if (!word(record, "reason").startsWith(`${key}: answered `)) return false;
  const began = records[last(records, looked, (r) => fits(r, "steps.look", id) && word(r, "reason") === key)];
  const [from, to] = [nanoseconds(word(began ?? {}, "at")), nanoseconds(word(records[sending] ?? {}, "at"))];
  return from !== undefined && to !== undefined && to - from <= tenSeconds;
}
