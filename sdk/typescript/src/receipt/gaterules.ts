// What the approval rules of a capability say of the inputs that a step sent: the same as
// internal/rules/gate, over exact numbers and three truth values.
import { Digits, type Json } from "./canonical.js";
import { at, list, text, whole } from "./claims.js";
import { folded } from "./folded.js";
import { equal, members } from "./value.js";

export interface Verdict {
  then: "ALLOW" | "ASK" | "DENY";
  approvals: number;
  groups: string[];
}

/** Truth values by their order: AND is the least, OR the greatest. */
const no = 0;
const unknown = 1;
const yes = 2;
type Truth = typeof no | typeof unknown | typeof yes;
const truth = (v: boolean): Truth => (v ? yes : no);

const severity = new Map([["ALLOW", 1], ["ASK", 2], ["DENY", 3]]);

/** The edition of the gate since which a name in another case isn't another name. */
export const folding = 3;

/** Judges inputs by an edition of the gate; open names those that aren't known yet. */
export function judge(edition: number, rules: Json[], asks: boolean, input: Json | undefined, open: string[]): Verdict {
  let said = "";
  let [approvals, groups]: [number, string[]] = [0, []];
  for (const rule of rules) {
    const held = holds(at(rule, "when"), (path) => read(edition >= folding, input, path, open));
    const then = held === yes ? text(at(rule, "then")) : held === unknown ? "ASK" : "";
    const [weight, known] = [severity.get(then) ?? 0, severity.get(said) ?? 0];
    if (weight === 0 || weight < known) continue;
    if (weight > known) [said, approvals, groups] = [then, 0, []];
    approvals = Math.max(approvals, whole(at(rule, "approvals")));
    groups.push(...list(at(rule, "groups")).map(text));
  }
  if (said === "") said = asks ? "ASK" : "ALLOW";
  if (said !== "ASK") return { then: said as Verdict["then"], approvals: 0, groups: [] };
  return { then: "ASK", approvals: Math.max(1, approvals), groups: sorted(groups) };
}

/** Each once, in the order of their UTF-8 bytes. */
const sorted = (names: string[]) => [...new Set(names)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

interface Reading {
  value?: Json;
  unclear?: boolean;
}

function holds(c: Json | undefined, look: (path: string) => Reading): Truth {
  if (text(at(c, "kind")) !== "group") return compare(c, look(text(at(c, "variableId"))));
  const parts = list(at(c, "conditions")).map((part) => holds(part, look));
  const and = text(at(c, "combinator")) === "AND";
  return (and ? Math.min(yes, ...parts) : Math.max(no, ...parts)) as Truth;
}

function compare(p: Json | undefined, { value, unclear }: Reading): Truth {
  if (unclear === true) return unknown;
  const [operator, constant] = [text(at(p, "operator")), at(p, "value") ?? null];
  if (operator === "isKnown") return truth(value !== undefined && value !== null);
  if (operator === "isUnknown") return truth(value === undefined || value === null);
  if (value === undefined || value === null || kind(value) !== kind(constant)) return unknown;
  if (operator === "eq") return truth(equal(value, constant));
  if (operator === "neq") return truth(!equal(value, constant));
  if (!(value instanceof Digits && constant instanceof Digits)) return unknown;
  const sign = order(value.text, constant.text);
  if (operator === "gt") return truth(sign > 0);
  if (operator === "gte") return truth(sign >= 0);
  if (operator === "lt") return truth(sign < 0);
  return operator === "lte" ? truth(sign <= 0) : unknown;
}

function kind(v: Json): string {
  if (v === null) return "null";
  if (v instanceof Digits) return "number";
  if (Array.isArray(v)) return "array";
  return v instanceof Map ? "object" : typeof v;
}

/**
 * What stands at a path: a dot separates names or belongs to one, and where readings differ it
 * is unclear. With folds so it is where a name stands there in another case, unless it stands
 * beside the one of that case and has its value.
 */
function read(folds: boolean, input: Json | undefined, path: string, open: string[]): Reading {
  const names = splits(path).map(([name]) => name);
  if (open.some((name) => names.some((other) => name === other || (folds && folded(name) === folded(other))))) return { unclear: true };
  const found = below(folds, input instanceof Map ? input : new Map(), path);
  if (found === undefined || found.some((v) => !equal(v, found[0]))) return { unclear: true };
  return found[0] === undefined ? {} : { value: found[0] };
}

/** Every reading of a path; undefined where one is unclear. */
function below(folds: boolean, v: Json, path: string): Json[] | undefined {
  const found: Json[] = [];
  for (const [name, rest] of splits(path)) {
    const next = Array.isArray(v) ? (/^(0|[1-9][0-9]*)$/.test(name) ? v[Number(name)] : undefined) : members(v).get(name);
    if (folds && otherCase(v, name, next)) return undefined;
    if (next === undefined) continue;
    const deeper = rest === "" ? [next] : below(folds, next, rest);
    if (deeper === undefined) return undefined;
    found.push(...deeper);
  }
  return found;
}

/** Whether an object has a name in another case with another value than under that name. */
function otherCase(v: Json, name: string, value: Json | undefined): boolean {
  const key = folded(name);
  return [...members(v)].some(([other, is]) => other !== name && folded(other) === key && (value === undefined || !equal(is, value)));
}

function splits(path: string): [string, string][] {
  const out: [string, string][] = [[path, ""]];
  for (let i = path.lastIndexOf("."); i >= 0; i = i === 0 ? -1 : path.lastIndexOf(".", i - 1)) out.push([path.slice(0, i), path.slice(i + 1)]);
  return out;
}

/** Compares two numbers in canonical form, exactly. */
export function order(a: string, b: string): number {
  const [x, y] = [decimal(a), decimal(b)];
  if (x.sign !== y.sign) return x.sign < y.sign ? -1 : 1;
  if (x.sign === 0) return 0;
  if (x.size !== y.size) return x.size < y.size ? -x.sign : x.sign;
  return x.digits === y.digits ? 0 : x.digits < y.digits ? -x.sign : x.sign;
}

/** A number as 0.digits times ten to the power of size. */
function decimal(v: string): { sign: number; digits: string; size: bigint } {
  const [mantissa, power] = v.split("e") as [string, string | undefined];
  const digits = mantissa.replace("-", "");
  if (digits === "0") return { sign: 0, digits: "", size: 0n };
  return { sign: mantissa.startsWith("-") ? -1 : 1, digits: digits.replace(/0+$/, ""), size: BigInt(digits.length) + BigInt(power ?? "0") };
}
