// What a receiver said of a step's key, each time with its signature, and the statement that ended
// the step.
import { answerMeans, asMeant } from "./answered.js";
import { readAnswer } from "./answerjson.js";
import { type Answers, checkAnswer, claimsNothingUnsigned, signsSomething } from "./answers.js";
import type { Json } from "./canonical.js";
import { hides, live, steps } from "./capability.js";
import { at, type Claims, digits, exists, has, list, masked, text, whole } from "./claims.js";
import { need } from "./failure.js";
import { moment } from "./moment.js";
import { type AuditRecord, word } from "./record.js";
import { encoded, equal, textOf as of } from "./value.js";

const states = ["DONE", "IN_PROGRESS", "UNKNOWN", "UNSEEN", "WITHDRAWN"];

/** Compares the statements of a step with their signatures. */
export function checkStatements(answers: Answers, s: Json): void {
  const c = answers.claims;
  const step = `step ${of(s, "id")}`;
  let last = 0;
  for (const r of list(at(s, "settlements"))) {
    const n = whole(at(r, "n"));
    need(n > last && n <= whole(at(s, "questions")) && live(c), "run", `${step} has a statement whose number no question has`);
    last = n;
    need(moment(of(r, "at")) !== "", "run", `${step} has a statement at no time in UTC`);
    const valid = at(r, "valid") === true;
    need(valid !== has(r, "error"), "run", `${step} has a statement that is valid and isn't`);
    if (!valid) continue;
    if (!exists(at(r, "signed")) || hides(c, s)) answers.unshown++;
    else checkSaid(answers, s, r);
  }
}

/** Verifies one statement: its signature, and that the record says what it does. */
function checkSaid(answers: Answers, s: Json, r: Json): void {
  const name = `step ${of(s, "id")} has statement ${digits(at(r, "n"))}`;
  const key = of(s, "idempotencyKey");
  const withdrawing = at(r, "withdrawing") === true;
  const asked = withdrawing ? `${key}~withdraw` : `${key}~settle-${digits(at(r, "n"))}`;
  const sent = nanoseconds(of(s, "startedAt"));
  const target = `${settlementPath(answers.claims, s)}/${key}${withdrawing ? "/withdraw" : ""}?sent=${seconds(sent ?? 0n)}`;
  need(sent !== undefined && of(r, "target") === target, "run", `${name} to another question than is asked about its key`);
  const asks = (action: string) => answers.records.findIndex(({ record: p }) => about(p, action, of(s, "id")) && word(p, "reason") === asked && word(p, "digest") === of(s, "requestDigest"));
  const before = [asks("steps.ask"), asks("steps.withdraw")].filter((place) => place >= 0).sort((a, b) => a - b)[0];
  need(before !== undefined, "run", `${name}, and the log has no such question`);
  const { body } = answers.verify(s, at(r, "signed"), of(r, "keyId"), { key: asked, method: withdrawing ? "POST" : "GET", target, body: "", status: 200, before, statement: whole(at(r, "n")) });
  const said = readAnswer(body);
  need(said !== undefined && of(at(r, "signed"), "signature").endsWith(` ${of(r, "signature")}`), "run", `${name} with another signature or body than its own`);
  need(sameStatement(r, said, key, sent), "run", `${name}, which says something else than its receiver signed`);
}

function sameStatement(r: Json, said: Json, key: string, sent: bigint): boolean {
  let state = of(said, "state");
  if (of(said, "key") !== key || !states.includes(state)) return false;
  const since = instant(of(said, "since"));
  const forgot = (state === "UNSEEN" || state === "WITHDRAWN") && (since === undefined || since >= sent - 300n * 1_000_000_000n);
  const named = forgot ? state : "";
  if (forgot) state = "UNKNOWN";
  const sameSince = since === undefined ? !has(r, "since") : nanoseconds(of(r, "since")) === since;
  const done = state === "DONE";
  const status = done ? digits(at(said, "statusCode")) : "";
  if (done && !/^[2-5][0-9][0-9]$/.test(status)) return false;
  const kept = done && has(said, "body");
  const sameBody = equal(at(r, "output"), kept ? at(said, "body") : undefined) && of(r, "text") === (done && !kept ? of(said, "text") : "");
  return of(r, "state") === state && of(r, "said") === named && sameSince && digits(at(r, "statusCode")) === status && sameBody;
}

/** Nanoseconds of a time in the form of receipts. */
function nanoseconds(value: string): bigint | undefined {
  const found = moment(value);
  return found === "" ? undefined : BigInt(Date.parse(`${found.slice(0, 19)}Z`)) * 1_000_000n + BigInt(found.slice(20));
}

const instantForm = /^(\d{4})(?:-(\d\d)-(\d\d)|(\d\d)(\d\d))[Tt](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?|(\d\d)(?:(\d\d)(?:[.,](\d{1,9}))?)?)(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/;

/** Nanoseconds of a time as receivers may write it. */
function instant(value: string): bigint | undefined {
  const f = instantForm.exec(value);
  if (f === null) return undefined;
  const [minute, second, fraction] = [f[7] ?? f[10] ?? "00", f[8] ?? f[11] ?? "00", f[9] ?? f[12] ?? "0"];
  const utc = nanoseconds(`${f[1]}-${f[2] ?? f[4]}-${f[3] ?? f[5]}T${f[6]}:${minute}:${second}.${fraction}Z`);
  const [hours, minutes] = [Number(f[14] ?? 0), Number(f[15] ?? 0)];
  if (utc === undefined || hours > 23 || minutes > 59) return undefined;
  const zone = BigInt(hours * 3600 + minutes * 60) * 1_000_000_000n;
  return f[13] === "-" ? utc + zone : utc - zone;
}

const seconds = (at: bigint): bigint => (at - (((at % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n)) / 1_000_000_000n;

/** Where the plan says that a step's receiver answers about keys. */
function settlementPath(c: Claims, s: Json): string {
  const project = list(at(c.plan, "projectSnapshots")).find((p) => text(at(p, "id")) === of(s, "projectId"));
  return text(at(at(project, "settlement"), "path"));
}

const about = (r: AuditRecord, action: string, step: string): boolean => word(r, "outcome") === "done" && word(r, "action") === action && word(r, "step") === step;

/** The last record of a step's settling, and the number of the statement that it names. */
function settledIn(records: AuditRecord[], s: Json): { n: string; record: AuditRecord | undefined } {
  const record = records.filter((r) => about(r, "steps.settle", of(s, "id"))).at(-1);
  return { n: record === undefined ? "" : (/^statement ([0-9]+) /.exec(word(record, "reason"))?.[1] ?? ""), record };
}

/** Compares the end of a settled step with the statement that the log names. */
export function checkSettled(answers: Answers, s: Json): void {
  const c = answers.claims;
  const by = at(s, "settledBy");
  if (!exists(by) || masked(c)) return;
  const step = `step ${of(s, "id")}`;
  const { n } = settledIn(answers.records.map((p) => p.record), s);
  const r = list(at(s, "settlements")).find((found) => digits(at(found, "n")) === n);
  need(r !== undefined && at(r, "valid") === true && of(r, "keyId") === of(by, "keyId"), "run", `${step} was settled by a statement that its receiver didn't sign`);
  if (of(r, "state") === "WITHDRAWN") return asMeant(c, s, { status: "FAILED", code: "withdrawn", mayHave: false });
  need(of(r, "state") === "DONE", "run", `${step} was settled by a statement that decides nothing`);
  need(digits(at(at(s, "response"), "statusCode")) === digits(at(r, "statusCode")), "run", `${step} has another response than the statement that settled it`);
  const body = has(r, "output") ? encoded(at(r, "output")) : of(r, "text");
  const meant = answerMeans(c, s, whole(at(r, "statusCode")), Buffer.from(body), 1);
  need(meant !== undefined, "run", `${step} was settled by an answer that doesn't say what became of it`);
  asMeant(c, s, meant);
}

/** Compares what the log says of the questions about a step's key, and of its settling, with the step. */
export function checkSettling(c: Claims, s: Json, records: AuditRecord[], leftOut: number): void {
  if (hides(c, s) || (masked(c) && leftOut > 0)) return;
  const step = of(s, "id");
  const logged = records.filter((r) => about(r, "steps.statement", step)).map((r) => `${word(r, "at")} ${word(r, "reason")}`);
  const shown = list(at(s, "settlements")).map((r) => `${of(r, "at")} ${digits(at(r, "n"))}: ${of(r, "state") || "no statement"}`);
  need(equal(logged, shown), "audit", `the log does not say that the receiver of step ${step} said so`);
  const by = at(s, "settledBy");
  const { n, record } = settledIn(records, s);
  need((record !== undefined) === exists(by), "audit", `the log does not say that step ${step} was settled, or says so`);
  if (record === undefined) return;
  const r = list(at(s, "settlements")).find((found) => digits(at(found, "n")) === n);
  const state = of(r, "state") === "DONE" ? `DONE ${digits(at(r, "statusCode"))}` : of(r, "state");
  const words = `statement ${n} of the receiver: ${state}, signed with answer key ${of(by, "keyId")}`;
  const same = word(record, "reason") === words && word(record, "at") === of(by, "at") && word(record, "actor") === "system" && word(record, "digest") === of(s, "requestDigest");
  need(same, "audit", `the log does not say that step ${step} was settled so`);
}

/** Verifies each signed answer, and that the step is what follows from it. */
export function checkAnswers(answers: Answers): void {
  for (const s of steps(answers.claims)) {
    claimsNothingUnsigned(answers, s);
    checkAnswer(answers, s);
    checkStatements(answers, s);
    checkSettled(answers, s);
  }
  signsSomething(answers);
}
