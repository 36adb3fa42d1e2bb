// Values in their canonical form: to compare them, and to take the plan's digest.
import { Digits, type Json } from "./canonical.js";
import { at, text } from "./claims.js";

/** encoded is a value in canonical form; what is missing reads as null. */
export function encoded(v: Json | undefined): string {
  if (v === undefined || v === null) return "null";
  if (typeof v === "string") return quoted(v);
  if (typeof v === "boolean") return String(v);
  if (v instanceof Digits) return v.text;
  if (Array.isArray(v)) return `[${v.map(encoded).join(",")}]`;
  const names = [...v.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${names.map((name) => `${quoted(name)}:${encoded(v.get(name))}`).join(",")}}`;
}

const long: Record<string, string> = { "\\b": "\\u0008", "\\f": "\\u000c" };

/** JSON.stringify has two more short escapes, and escapes lone surrogates, of which UTF-8 has none. An escaped backslash begins none. */
const quoted = (v: string) => JSON.stringify(v).replace(/\\./g, (escape) => long[escape] ?? escape);

export const equal = (a: Json | undefined, b: Json | undefined): boolean => encoded(a) === encoded(b);

export const members = (v: Json | undefined): Map<string, Json> => (v instanceof Map ? v : new Map());

/** planContent is what a plan's digest is taken of. */
export function planContent(plan: Json): string {
  const inputs = at(plan, "planningInputs");
  const content = new Map<string, Json>();
  for (const name of ["agents", "gate", "projects", "steps", "team"]) {
    const value = at(plan, name);
    if (value !== undefined || name === "projects" || name === "steps") content.set(name, value ?? null);
  }
  content.set("modelId", at(plan, "modelId") ?? "");
  content.set("modelRevision", at(plan, "modelRevision") ?? new Digits("0"));
  content.set("scenarioId", at(plan, "scenarioId") ?? "");
  content.set("planningInputs", members(inputs).size === 0 && inputs instanceof Map ? null : (inputs ?? null));
  return encoded(content);
}

/** sameBody compares a body in canonical form with the text that is sent. */
export function sameBody(shown: Json | undefined, sent: string): boolean {
  if (sent === "") return shown === undefined || shown === null;
  try {
    JSON.parse(sent);
  } catch {
    return false;
  }
  return equal(shown, new Plain(sent).value());
}

/** sameQuery compares a query with that of the url. */
export function sameQuery(shown: Json | undefined, address: string): boolean {
  const at = address.indexOf("?");
  const pairs = at < 0 ? [] : address.slice(at + 1).split("&");
  const seen = new Set<string>();
  for (const pair of pairs.filter((p) => p !== "")) {
    const [name, value] = cut(pair).map(unescaped);
    if (name === undefined || value === undefined || seen.has(name) || !members(shown).has(name) || !sameText(members(shown).get(name), value)) return false;
    seen.add(name);
  }
  return seen.size === members(shown).size;
}

function cut(pair: string): [string, string] {
  const at = pair.indexOf("=");
  return at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
}

function unescaped(v: string): string | undefined {
  try {
    return decodeURIComponent(v);
  } catch {
    return undefined;
  }
}

function sameText(shown: Json | undefined, v: string): boolean {
  if (typeof shown === "string") return shown === v;
  if (typeof shown === "boolean") return v === String(shown);
  if (shown instanceof Digits) return numberForm.test(v) && plainNumber(v) === shown.text;
  return true;
}

const numberForm = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const maxPlainZeros = 20;

/** plainNumber spells a number of JSON in the one form. */
export function plainNumber(v: string): string {
  const [, sign, whole, fraction, power] = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(v) as unknown as [string, string, string, string | undefined, string | undefined];
  const digits = `${whole}${fraction ?? ""}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  const exponent = BigInt(power ?? "0") - BigInt((fraction ?? "").length) + BigInt(digits.length - short.length);
  if (exponent >= 0n && exponent <= BigInt(maxPlainZeros)) return `${sign}${short}${"0".repeat(Number(exponent))}`;
  return `${sign}${short}e${exponent}`;
}

/** Plain reads text that JSON.parse takes, and keeps the digits of numbers. */
class Plain {
  readonly #text: string;
  #at = 0;

  constructor(value: string) {
    this.#text = value;
  }

  value(): Json {
    const token = this.#token();
    if (token === "{") return this.#object();
    if (token === "[") return this.#array();
    if (token.startsWith('"')) return wellFormed(JSON.parse(token) as string);
    if (token === "null") return null;
    return token === "true" || token === "false" ? token === "true" : new Digits(plainNumber(token));
  }

  #token(): string {
    const form = /\s*([{}[\]:,"]|[^\s{}[\]:,"]+)/y;
    form.lastIndex = this.#at;
    const token = (form.exec(this.#text) as RegExpExecArray)[1] as string;
    this.#at = form.lastIndex;
    return token === '"' ? this.#string() : token;
  }

  /** A string may be too long for a regular expression. */
  #string(): string {
    const start = this.#at - 1;
    while (this.#text[this.#at] !== '"') this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    this.#at++;
    return this.#text.slice(start, this.#at);
  }

  #closes(end: string): boolean {
    const was = this.#at;
    const closed = this.#token() === end;
    if (!closed) this.#at = was;
    return closed;
  }

  #object(): Json {
    const out = new Map<string, Json>();
    if (this.#closes("}")) return out;
    do {
      const name = wellFormed(JSON.parse(this.#token()) as string);
      this.#token(); // the colon
      out.set(name, this.value());
    } while (this.#token() === ",");
    return out;
  }

  #array(): Json {
    const out: Json[] = [];
    if (this.#closes("]")) return out;
    do out.push(this.value());
    while (this.#token() === ",");
    return out;
  }
}

/** wellFormed has U+FFFD for lone surrogates, as UTF-8 has. */
const wellFormed = (v: string): string => Buffer.from(v).toString();

/** textOf is a member that is text. */
export const textOf = (v: Json | undefined, name: string): string => text(at(v, name));
