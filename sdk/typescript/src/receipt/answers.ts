// An answer that its receiver has signed is more than the service's word: its bytes are in the
// receipt, and what the step says of it is computed from them.
import { createHash } from "node:crypto";
import { asAnswered, endedByAnswer, endedByPerson } from "./answered.js";
import type { Placed } from "./assertions.js";
import type { Json } from "./canonical.js";
import { hides, live, steps } from "./capability.js";
import { at, type Claims, digits, exists, list, text, whole } from "./claims.js";
import { need } from "./failure.js";
import { moment } from "./moment.js";
import { word } from "./record.js";
import { textOf as of } from "./value.js";

/** An answer that is verified to be its receiver's own. */
export interface SignedAnswer {
  stepId: string;
  /** Of what the receiver said of the step's key: its number. */
  statement?: number;
  keyId: string;
  /** Where the key was taken from: the audit record that registered it, or the reader knew it. */
  keyFrom: "log" | "reader";
}

/** What is verified of the answers, and what it is verified by. */
export class Answers {
  readonly found: SignedAnswer[] = [];
  /** Answers that are said to be signed, without what shows it. */
  unshown = 0;
  readonly claims: Claims;
  readonly records: Placed[];
  readonly #given: readonly string[];
  readonly #signed: (publicKey: string, text: Uint8Array, signature: string) => boolean;

  constructor(claims: Claims, records: Placed[], given: readonly string[], signed: (publicKey: string, text: Uint8Array, signature: string) => boolean) {
    this.claims = claims;
    this.records = records;
    this.#given = given;
    this.#signed = signed;
  }

  /** Whether the reader knows the keys of an API. */
  get given(): boolean {
    return this.#given.length > 0;
  }

  /** The place of the last record of an action on a step, -1 for none. */
  place(s: Json, action: string): number {
    const is = (p: Placed) => word(p.record, "outcome") === "done" && word(p.record, "action") === action && word(p.record, "step") === of(s, "id");
    return this.records.reduce((last, p, i) => (is(p) ? i : last), -1);
  }

  /** Verifies who signed an answer, and gives its body with the time. */
  verify(s: Json, signed: Json | undefined, keyId: string, of: { key: string; method: string; target: string; body: string; status: number; before: number; statement?: number }): { body: Buffer; at: number } {
    const step = `step ${text(at(s, "id"))}`;
    const encodedBody = text(at(signed, "bodyBase64"));
    const body = Buffer.from(encodedBody, "base64");
    need(body.toString("base64") === encodedBody, "run", `${step} has an answer whose body is not in base64`);
    const given = this.#given.length > 0;
    const keys = given ? this.#given : this.#registered(text(at(s, "projectId")), of.before);
    const form = /^v1 (0|[1-9][0-9]{0,11}) ([0-9a-f]{128})$/.exec(text(at(signed, "signature")));
    const lines = ["countersign-answer/1", of.key, text(at(signed, "timestamp")), of.method, of.target, sha256(Buffer.from(of.body)), String(of.status), sha256(body), form?.[1] ?? ""];
    const good = form !== null && !lines.some((line) => /[\r\n]/.test(line));
    const signer = good ? keys.find((key) => this.#signed(key, Buffer.from(lines.join("\n")), form[2] as string)) : undefined;
    const whose = given ? "none of the given keys signed as it says" : "no key signed as it says which the log registers before it";
    need(signer !== undefined && keyIdOf(signer) === keyId, "run", `${step} has an answer that ${whose}`);
    this.found.push({ stepId: text(at(s, "id")), ...(of.statement === undefined ? {} : { statement: of.statement }), keyId, keyFrom: given ? "reader" : "log" });
    return { body, at: Number(form?.[1]) };
  }

  /** The answer keys that the log registers for a project before a record. */
  #registered(project: string, before: number): string[] {
    const about = this.records.slice(0, Math.max(0, before)).filter((p) => word(p.record, "outcome") === "done" && word(p.record, "subject") === `project/${project}`);
    return about.flatMap(answerKeys);
  }
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const keyIdOf = (publicKey: string): string => sha256(Buffer.from(publicKey, "hex"));

/** The answer keys that a record names, as hex. */
function answerKeys({ record }: Placed): string[] {
  const found = Object.hasOwn(record, "answerKeys") ? record["answerKeys"] : undefined;
  const texts = Array.isArray(found) ? found.filter((text): text is string => typeof text === "string") : [];
  return texts.map(parseAnswerKey).filter((key) => key !== "");
}

/** parseAnswerKey is the hex of a key as a project registers it, "" for anything else. */
export const parseAnswerKey = (text: string): string => /^ed25519:([0-9a-f]{64})$/.exec(text)?.[1] ?? "";

/** registersAnswers reports a record that registered a key by which an answer in the receipt is said to be signed. */
export function registersAnswers(c: Claims, p: Placed): boolean {
  if (word(p.record, "outcome") !== "done") return false;
  const ids = answerKeys(p).map(keyIdOf);
  return steps(c).some((s) => word(p.record, "subject") === `project/${of(s, "projectId")}` && keyIds(s).some((id) => ids.includes(id)));
}

/** The keys that a step names for answers whose evidence it shows. */
function keyIds(s: Json): string[] {
  const own = exists(at(at(s, "response"), "signed")) ? [of(at(s, "answeredBy"), "keyId")] : [];
  const said = list(at(s, "settlements")).filter((r) => at(r, "valid") === true && exists(at(r, "signed")));
  return [...own, ...said.map((r) => of(r, "keyId"))];
}

/** Where the log says that an answer counts only if it is signed, one that ended the step is. */
export function claimsNothingUnsigned(answers: Answers, s: Json): void {
  const step = `step ${of(s, "id")}`;
  const [settled, by] = [exists(at(s, "settledBy")), at(s, "answeredBy")];
  need(of(at(s, "error"), "code") !== "withdrawn" || settled || exists(by), "run", `${step} is said to be withdrawn, which no receiver has signed`);
  const sent = answers.place(s, "step.send");
  if (sent < 0 || settled || endedByPerson(s) || !endedByAnswer(s)) return;
  const record = answers.records[sent] as Placed;
  const wanted = Object.hasOwn(record.record, "answerKeys") ? record.record["answerKeys"] : undefined;
  const signs = answerKeys(record).some((key) => keyIdOf(key) === of(by, "keyId"));
  need(!Array.isArray(wanted) || wanted.length === 0 || signs, "run", `${step} was sent where only a signed answer counts, and ended by one that none of the keys of then signed`);
}

/** A reader who knows the keys of an API is shown an answer that one of them signed, where answers ended steps. */
export function signsSomething(answers: Answers): void {
  if (!answers.given || answers.found.length > 0 || answers.unshown > 0 || !live(answers.claims)) return;
  const ended = steps(answers.claims).find((s) => endedByAnswer(s) && !endedByPerson(s) && !exists(at(s, "settledBy")) && answers.place(s, "step.send") >= 0);
  need(ended === undefined, "run", `step ${of(ended, "id")} was ended by an answer, and the receipt has none that one of the given keys signed`);
}

export function checkAnswer(answers: Answers, s: Json): void {
  const c = answers.claims;
  const step = `step ${of(s, "id")}`;
  const [by, response] = [at(s, "answeredBy"), at(s, "response")];
  const signed = at(response, "signed");
  if (!exists(by) && !exists(signed)) return;
  need(exists(by), "run", `${step} has a signed answer and doesn't say by whom`);
  need(live(c) && of(by, "keyId") !== "" && moment(of(by, "at")) !== "", "run", `${step} doesn't say by whom it was answered, and when`);
  if (!exists(signed) || hides(c, s)) {
    answers.unshown++;
    return;
  }
  const request = at(s, "request");
  const sent = list(c.requests).find((r) => text(at(r, "digest")) === of(s, "requestDigest"));
  const { body, at: time } = answers.verify(s, signed, of(by, "keyId"), {
    key: of(s, "idempotencyKey"),
    method: of(request, "method"),
    target: /^[^/]*:\/\/[^/]*(\/.*)$/s.exec(of(request, "url"))?.[1] ?? "",
    body: text(at(sent, "body")),
    status: whole(at(response, "statusCode")),
    before: answers.place(s, "step.send"),
  });
  need(moment(of(by, "at")) === moment(new Date(time * 1000).toISOString()), "run", `${step} was answered at another time than its receiver signed`);
  const same = of(response, "bodySha256") === sha256(body) && digits(at(response, "bytes")) === String(body.length);
  need(same, "run", `${step} has another bodySha256 or length than the answer that was signed`);
  asAnswered(c, s, body);
}
