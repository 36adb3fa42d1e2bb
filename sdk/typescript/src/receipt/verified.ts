// What judged a step's answer is what the plan and its capability expect.
import type { Json } from "./canonical.js";
import { at, type Claims, exists, list } from "./claims.js";
import { need } from "./failure.js";
import { capability } from "./capability.js";
import { equal, textOf as of } from "./value.js";

/** Those that judge the answer to a step: its capability's, and besides it the plan's own of the step. */
export function expectations(c: Claims, s: Json, planned: Json | undefined): Json[] {
  return [at(capability(c, s), "expectation"), at(planned, "expectation")].filter((e): e is Json => exists(e));
}

/** Compares what judged the output with the expectations, and the judgement with the status. */
export function asVerified(s: Json, expected: Json[]): void {
  const v = at(s, "verification");
  const status = of(s, "status");
  const judged = of(v, "status");
  const passed = expected.length > 0 ? "PASSED" : "NOT_REQUESTED";
  const wanted = status === "COMPLETED" ? passed : status === "SIMULATED" ? "SIMULATED" : judged;
  need(judged === wanted, "run", `step ${of(s, "id")} is ${status} and was not verified so`);
  if (!exists(v)) return;
  need(judgedBy(v, expected), "run", `step ${of(s, "id")} was verified by another expectation than in the plan`);
  for (const check of [...list(at(v, "checks")), v]) {
    need(of(check, "status") !== "PASSED" || equal(at(check, "actual"), at(check, "expected")), "run", `step ${of(s, "id")} was verified as passed, and is not what was expected`);
  }
}

/** A verification names the expectation that it judged by. Where there are several, its checks name each, and what it says itself is the judgement of one. */
function judgedBy(v: Json | undefined, expected: Json[]): boolean {
  const checks = list(at(v, "checks"));
  if (expected.length < 2) return checks.length === 0 && byThis(v, expected[0]);
  const whole = of(v, "status");
  const each = (check: Json, i: number) => byThis(check, expected[i]) && (whole === "FAILED" || of(check, "status") === whole);
  const itself = (check: Json) => of(check, "status") === whole && of(check, "field") === of(v, "field") && equal(at(check, "expected"), at(v, "expected")) && equal(at(check, "actual"), at(v, "actual"));
  return checks.length === expected.length && checks.every(each) && checks.some(itself);
}

const byThis = (v: Json | undefined, e: Json | undefined): boolean => of(v, "field") === of(e, "field") && equal(at(v, "expected"), at(e, "equals"));

/** How an approval shows expectations: one as it is, several as an array. */
export const shownAs = (approval: Json | undefined, expected: Json[]): boolean => equal(approval, expected.length === 1 ? expected[0] : expected);
