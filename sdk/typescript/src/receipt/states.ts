// What a precondition read is that on which it was approved, and was read before it was sent: as
// far as the log has it. Masking leaves it out.
import { createHash } from "node:crypto";
import type { Json } from "./canonical.js";
import { capability, steps } from "./capability.js";
import { at, type Claims, digits, exists, has, list, masked, text, whole } from "./claims.js";
import { need } from "./failure.js";
import { moment } from "./moment.js";
import { type AuditRecord, word } from "./record.js";
import { revision } from "./agree.js";
import { encoded, equal, members, sameQuery, textOf as of } from "./value.js";

/** The records of the log, with the places of those of the approvals' requests and decisions. */
export interface Course {
  records: AuditRecord[];
  asked: Map<string, number>;
  decided: Map<string, number>;
}

/** Compares the states that approvals show with what was read, with each other and with the log. */
export function checkStates(c: Claims, log: Course): void {
  if (masked(c)) return;
  for (const a of list(c.approvals)) {
    const check = (ok: boolean, problem: string) => need(ok, "approvals", `approval ${of(a, "id")} ${problem}`);
    const step = steps(c).find((s) => of(s, "id") === of(a, "stepId")) as Json;
    asRead(c, step, a, check);
    asChanged(c, step, a, check);
    asDecidedOn(step, a, log, check);
  }
}

type Check = (ok: boolean, problem: string) => void;

const sha256 = (value: string): string => createHash("sha256").update(value).digest("hex");

export const preconditionOf = (c: Claims, s: Json): Json | undefined => at(capability(c, s), "precondition");

export const stateDigestOf = (v: Json | undefined): string =>
  sha256(encoded(new Map<string, Json>([["capability", of(v, "capability")], ["fields", at(v, "values") ?? new Map<string, Json>()]])));

/** Whether values are of exactly the fields that the precondition reads. */
export function isState(pre: Json | undefined, state: Json | undefined): boolean {
  const [fields, values] = [list(at(pre, "fields")).map(text), members(at(state, "values"))];
  return of(state, "capability") === of(pre, "capability") && values.size === fields.length && fields.every((name) => values.has(name));
}

/** The look whose state an approval shows. */
function lookOf(s: Json, a: Json): Json | undefined {
  const state = at(a, "state");
  return list(at(s, "looks")).find(
    (l) => of(l, "at") === of(state, "at") && of(l, "stateDigest") === of(a, "stateDigest") && of(l, "requestDigest") === of(state, "requestDigest") && equal(at(l, "statusCode"), at(state, "statusCode")),
  );
}

function asRead(c: Claims, s: Json, a: Json, check: Check): void {
  const [pre, digest, state] = [preconditionOf(c, s), of(a, "stateDigest"), at(a, "state")];
  check(exists(pre) === exists(state) && exists(state) === (digest !== ""), "shows a state where there is no precondition, or none where there is one");
  if (!exists(state)) return;
  check(isState(pre, state) && stateDigestOf(state) === digest, "shows another state than the one of its stateDigest");
  check(lookOf(s, a) !== undefined, "shows a state that no look of its step has found");
  const read = at(state, "request");
  const texts = [of(read, "method"), of(read, "url"), "", of(s, "projectId"), revision(c, of(s, "projectId")), of(state, "capability")];
  if (exists(at(read, "headers"))) texts.push(encoded(at(read, "headers")));
  const shows = !exists(at(read, "body")) && sameQuery(at(read, "query"), of(read, "url"));
  check(shows && sha256(texts.map((part) => `${Buffer.byteLength(part)}:${part},`).join("")) === of(state, "requestDigest"), "shows another read than the one of its state's requestDigest");
}

function asChanged(c: Claims, s: Json, a: Json, check: Check): void {
  const all = list(c.approvals);
  const place = all.findIndex((b) => of(b, "id") === of(a, "id"));
  const previous = of(a, "previousApprovalId");
  const same = (b: Json) => of(b, "stepId") === of(a, "stepId") && equal(at(b, "attempt"), at(a, "attempt"));
  const before = all.slice(0, place).find((b) => of(b, "id") === previous && same(b));
  const after = all.slice(place + 1).some((b) => of(b, "previousApprovalId") === of(a, "id"));
  check((previous !== "") === (before !== undefined), "names an approval before it that there is not");
  check((at(a, "superseded") === true) === (after && of(a, "status") === "APPROVED"), "says otherwise than the one that was asked for in its place whether it lets anything out");
  const changed = before === undefined ? [] : differences(list(at(preconditionOf(c, s), "fields")).map(text), before, a);
  check(encoded(changed) === encoded(list(at(a, "changed"))), "says that something else has changed than the states show");
  const [again, was] = [Math.max(0, whole(at(a, "askedAgain"))), Math.max(0, whole(at(before, "askedAgain")))];
  check((again === was || (again === was + 1 && changed.length > 0)) && again <= 2, "says that it was asked for anew as often as it was not");
}

/** What `changed` of an approval says, computed from its state and the one before. */
function differences(fields: string[], before: Json, a: Json): Json[] {
  const [then, now] = [at(at(before, "state"), "values"), at(at(a, "state"), "values")];
  return fields.filter((name) => !equal(at(then, name), at(now, name))).map((name) => new Map<string, Json>([["field", name], ["then", at(then, name) ?? null], ["now", at(now, name) ?? null]]));
}

/** Compares the state of an approval with those of its decisions, and of the records of its request and its decisions. */
function asDecidedOn(s: Json, a: Json, { records, asked, decided }: Course, check: Check): void {
  const [id, digest] = [of(a, "id"), of(a, "stateDigest")];
  const onAnother = "was decided on another state, as the log says";
  for (const d of list(at(a, "decisions")).filter((one) => of(one, "by") !== "system")) {
    check(at(d, "left") === true || of(d, "stateDigest") === digest, "counts a decision on another state");
    const so = (r: AuditRecord) => fits(r, "approvals.decide", of(a, "stepId")) && word(r, "actor") === of(d, "by") && moment(word(r, "at")) === moment(of(d, "at")) && word(r, "stateDigest") === of(d, "stateDigest");
    check(records.some(so), onAnother);
  }
  const decision = records[decided.get(id) ?? -1];
  check(decision === undefined || word(decision, "action") !== "approvals.decide" || word(decision, "stateDigest") === digest, onAnother);
  const request = records[asked.get(id) ?? -1];
  const lookedAgain = of(lookOf(s, a), "by") !== ""; // by somebody, who had the approval show another state
  check(request === undefined || lookedAgain || word(request, "stateDigest") === digest, "was asked for on another state, as the log says");
}

export const fits = (r: AuditRecord, action: string, step: string): boolean => word(r, "outcome") === "done" && word(r, "action") === action && word(r, "step") === step;

/** The first look of a step that shows a state. */
export const found = (s: Json, digest: string): Json | undefined => list(at(s, "looks")).find((l) => has(l, "values") && of(l, "stateDigest") === digest);

/** The key of a look. */
export const lookKey = (s: Json, look: Json): string => `${of(s, "idempotencyKey")}~look-${digits(at(look, "n"))}`;
