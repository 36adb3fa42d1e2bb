// What an answer means for its step, computed from its bytes.
import { readAnswer, saysError } from "./answerjson.js";
import { Digits, type Json } from "./canonical.js";
import { capability, steps } from "./capability.js";
import { at, type Claims, exists, has, list, masked, whole } from "./claims.js";
import { need } from "./failure.js";
import { encoded, equal, textOf as of } from "./value.js";
import { expectations } from "./verified.js";

/** What becomes of a step by an answer. */
interface Meant {
  status: string;
  code: string;
  output?: Json | undefined;
  verification?: Json;
  mayHave: boolean;
}

/** answerMeans is undefined where the answer doesn't say what became of the request. */
export function answerMeans(c: Claims, s: Json, status: number, body: Uint8Array, attempt: number): Meant | undefined {
  if (status >= 200 && status < 300) return successMeans(c, s, status, body);
  if (status < 400 || status >= 500 || status === 408) return undefined;
  if (status === 409 && (attempt > 1 || saysError(body, "in_progress", "in_doubt"))) return undefined;
  const code = status === 410 && saysError(body, "key_withdrawn") ? "withdrawn" : "receiver_refused";
  return { status: "FAILED", code, mayHave: false };
}

function successMeans(c: Claims, s: Json, status: number, body: Uint8Array): Meant | undefined {
  const value = readAnswer(body);
  if (value === undefined || status === 206) return undefined;
  const field = of(capability(c, s), "outputField");
  const output = field === "" ? value : lookup(value, field);
  const mayHave = at(s, "sideEffect") === true;
  if (output === undefined) return { status: "FAILED", code: "output_missing", mayHave };
  const planned = list(at(c.plan, "steps"))[steps(c).indexOf(s)];
  const judged = expectations(c, s, planned).map((e) => judge(e, output, field, status));
  const failed = judged.find((v) => v.get("status") === "FAILED");
  const verification = failed ?? judged.at(-1) ?? new Map<string, Json>([["status", "NOT_REQUESTED"]]);
  const shown = new Map(verification);
  if (judged.length > 1) shown.set("checks", judged.map((v) => new Map([...v].filter(([name]) => name !== "statusCode"))));
  if (failed) return { status: "FAILED", code: "expectation_not_met", output, verification: shown, mayHave };
  return { status: "COMPLETED", code: "", output, verification: shown, mayHave: false };
}

/** lookup finds a field: an exact key first, else a dotted path whose digits index arrays. */
function lookup(value: Json, field: string): Json | undefined {
  const dot = field.indexOf(".");
  const head = dot < 0 ? field : field.slice(0, dot);
  if (value instanceof Map && value.has(field)) return value.get(field);
  const child = value instanceof Map ? value.get(head) : Array.isArray(value) && /^(0|[1-9][0-9]{0,14})$/.test(head) ? value[Number(head)] : undefined;
  return dot < 0 || child === undefined ? child : lookup(child, field.slice(dot + 1));
}

function judge(e: Json, output: Json, outputField: string, status: number): Map<string, Json> {
  const field = of(e, "field");
  const itself = field === "$" || (outputField !== "" && field === outputField);
  const actual = lookup(output, field) ?? (itself ? output : undefined);
  const wanted = whole(at(e, "statusCode"));
  const passed = actual !== undefined && equal(actual, at(e, "equals")) && (wanted <= 0 || wanted === status);
  const out = new Map<string, Json>([["status", passed ? "PASSED" : "FAILED"], ["field", field], ["expected", at(e, "equals") ?? null], ["statusCode", new Digits(String(status))]]);
  if (actual !== undefined) out.set("actual", actual);
  return out;
}

/** Whether only an answer gives a step this status. */
export const endedByAnswer = (s: Json): boolean =>
  of(s, "status") === "COMPLETED" || ["receiver_refused", "output_missing", "expectation_not_met", "withdrawn"].includes(of(at(s, "error"), "code"));

/** Whether a person's resolution ended a step, and no answer. */
export function endedByPerson(s: Json): boolean {
  const [status, code] = [of(s, "status"), of(at(s, "error"), "code")];
  const resolution = of(at(s, "reconciliation"), "resolution");
  if (resolution === "CONFIRMED_NOT_EXECUTED") return (status === "CANCELLED" && code === "") || code === "not_executed"; // else it was sent again
  return resolution !== "" && (status === "COMPLETED" || status === "ABANDONED");
}

/** Compares a step with what its signed answer means, unless something else ended it. */
export function asAnswered(c: Claims, s: Json, body: Uint8Array): void {
  if (masked(c) || exists(at(s, "settledBy")) || endedByPerson(s)) return;
  const meant = answerMeans(c, s, whole(at(at(s, "response"), "statusCode")), body, whole(at(s, "attempt")));
  if (meant !== undefined) return asMeant(c, s, meant);
  const open = at(s, "sideEffect") !== true && of(s, "status") === "FAILED" && !endedByAnswer(s);
  need(open, "run", `step ${of(s, "id")} ended by an answer that doesn't say what became of it`);
}

export function asMeant(c: Claims, s: Json, { status, code, output, verification, mayHave }: Meant): void {
  const step = `step ${of(s, "id")}`;
  const elsewhere = has(c.run, "restoredAt") && status !== "COMPLETED" && code !== "withdrawn"; // the store that was replaced may have sent it, too
  const may = elsewhere ? at(s, "sideEffect") === true : mayHave;
  const ends = status === "FAILED" && exists(at(s, "settledBy")) && at(c.run, "cancelRequested") === true ? "CANCELLED" : status;
  need(of(s, "status") === ends && of(at(s, "error"), "code") === code, "run", `${step} has another status or error than its signed answer means`);
  need(equal(at(s, "output"), output), "run", `${step} has another output than its signed answer`);
  need(encoded(at(s, "verification")) === encoded(verification), "run", `${step} has another verification than its signed answer comes to`);
  need((at(s, "mayHaveHappened") === true) === may, "run", `${step} says otherwise than its signed answer whether it may have happened`);
}
