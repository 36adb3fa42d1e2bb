// Verifies the signed tree head, each record's way to it (RFC 6962), and that the run
// is what the records say.
import type { Json } from "./canonical.js";
import { checkSigned, isRegistration, type Placed, signedDecisions } from "./assertions.js";
import { sameAssertion } from "./sameassertion.js";
import { registersAnswers } from "./answers.js";
import { need } from "./failure.js";
import { checkEnd, checkOutcome, checkReconciled, checkRecords, checkStarted } from "./course.js";
import { steps } from "./capability.js";
import { checkCosigned } from "./cosigned.js";
import { checkSent } from "./gate.js";
import { checkSettling } from "./settled.js";
import { at, type Checks, type Claims, digits, list, masked, text, whole } from "./claims.js";
import { moment } from "./moment.js";
import { type AuditRecord, read, word } from "./record.js";
import { checkRedaction, saysReason } from "./redacted.js";
import type { Course } from "./states.js";
import type { Policy } from "./witnesses.js";

export function checkAudit(c: Claims, policy: Policy, checks: Checks) {
  const head = at(c.audit, "head");
  const tenant = text(at(head, "tenantId"));
  const signature = text(at(head, "signature"));
  const signedText = `countersign-tree-head/1\n${tenant}\n${digits(at(head, "size"))}\n${text(at(head, "root"))}\n${text(at(head, "at"))}\n`;
  need(/^[0-9a-f]{128}$/.test(signature) && checks.signed(Buffer.from(signedText), signature), "audit", "the tree head is not signed by the key");
  need(tenant === text(at(c.statement, "tenantId")), "audit", "the tree head is of another tenant's log");
  const leftOut = whole(at(c.audit, "leftOut"));
  need(leftOut >= 0, "audit", "leftOut must say how many records were left out");
  const records = included(c, head, checks);
  const { told, course } = checkCourse(c, records, leftOut);
  const cosigned = checkCosigned(c, records.at(-1)?.seq ?? -1, policy, checks);
  return { placed: records, course, ...(cosigned && { cosigned }), treeSize: whole(at(head, "size")), treeRoot: text(at(head, "root")), records: records.length, leftOut, ...told };
}

function included(c: Claims, head: Json | undefined, checks: Checks): Placed[] {
  const size = whole(at(head, "size"));
  const root = text(at(head, "root"));
  need(size >= 0 && isHash(root), "audit", "the tree head is of no tree");
  const subjects = new Set(list(c.approvals).map((a) => `approval/${text(at(a, "id"))}`)).add(`run/${text(at(c.run, "id"))}`);
  const signed = signedDecisions(c.approvals);
  let last = -1;
  return list(at(c.audit, "records")).map((r) => {
    const leaf = text(at(r, "text"));
    const seq = Number(/^\{"seq":(0|[1-9][0-9]{0,14}),/.exec(leaf)?.[1] ?? -1);
    const path = list(at(r, "proof")).map(text);
    const proven = seq > last && seq < size && path.every(isHash) && rootOf(leaf, seq, size, path, checks) === root;
    need(proven, "audit", `a record is not proven to stand in the log at its place: ${seq}`);
    last = seq;
    const record = read(leaf);
    need(subjects.has(word(record, "subject")) || signed.some((d) => isRegistration({ record, seq }, d)) || registersAnswers(c, { record, seq }), "audit", `a record is about something else: ${seq}`);
    need(moment(word(record, "at")) !== "", "audit", `a record has no time in UTC: ${seq}`);
    return { record, seq };
  });
}

const isHash = (v: string) => /^[0-9a-f]{64}$/.test(v);

/** rootOf is where a leaf's path leads to: RFC 9162, 2.1.3.2; "" where the path is of no such leaf. */
function rootOf(leaf: string, seq: number, size: number, path: string[], { sha256 }: Checks): string {
  const node = (left: string, right: string) => sha256(Buffer.from(`01${left}${right}`, "hex"));
  let [fn, sn] = [seq, size - 1];
  let hash = sha256(Buffer.from([0]), Buffer.from(leaf));
  for (const next of path) {
    if (sn === 0) return "";
    if (fn % 2 === 1 || fn === sn) {
      hash = node(next, hash);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else {
      hash = node(hash, next);
    }
    [fn, sn] = [half(fn), half(sn)];
  }
  return sn === 0 ? hash : "";
}

const half = (n: number) => Math.floor(n / 2); // >> is of 32 bits

/** Compares the course of the run, what was sent, who decided and who reconciled, and why. */
function checkCourse(c: Claims, placed: Placed[], leftOut: number): { told: { approved: number; unlogged: number }; course: Course } {
  const records = placed.map((r) => r.record);
  checkStarted(c, records);
  checkRecords(c, records);
  checkEnd(c, records, leftOut);
  const told = { approved: 0, unlogged: 0 };
  const found: Found = { asked: new Map(), decided: new Map() };
  for (const a of list(c.approvals)) checkDecision(c, a, placed, leftOut, found, told);
  const asked = new Set(found.asked.values());
  records.forEach((r, i) => need(!fits(r, [["action", "approval.request"]]) || asked.has(i), "audit", `the log says that an approval was asked for at step ${word(r, "step")}, which is missing`));
  const says = (r: AuditRecord) => (action: string, step: string, of?: string) => fits(r, [["action", action], ["step", step], ...(of === undefined ? [] : [["digest", of] as [string, string]])]);
  const sendings = { records: records.map((r) => ({ says: says(r), at: word(r, "at") })), decided: found.decided };
  for (const s of steps(c)) {
    checkSent(c, s, sendings);
    checkReconciled(c, s, records);
    checkOutcome(c, s, records, leftOut);
    checkSettling(c, s, records, leftOut);
  }
  checkRedaction(c, records);
  return { told, course: { records, ...found } };
}

/** The places of the records of what was asked and of what was decided, by the approvals' ids. */
interface Found {
  asked: Map<string, number>;
  decided: Map<string, number>;
}

const fits = (r: AuditRecord, wanted: [string, string][]): boolean => word(r, "outcome") === "done" && wanted.every(([name, value]) => word(r, name) === value);

/** Finds the records of what was asked and of what was decided, one each for each approval. */
function checkDecision(c: Claims, a: Json, placed: Placed[], leftOut: number, { asked, decided }: Found, told: { approved: number; unlogged: number }): void {
  const records = placed.map((r) => r.record);
  const of = (name: string) => text(at(a, name));
  const [status, by, digest] = [of("status"), of("decidedBy"), of("requestDigest")];
  if (status === "APPROVED") told.approved++;
  if (digest === "") {
    if (status === "APPROVED" || by !== "system") told.unlogged++; // masking left it out, and the record with it
    return;
  }
  const find = (taken: Map<string, number>, time: string, wanted: [string, string][], also: (r: AuditRecord) => boolean = () => true): boolean => {
    const others = new Set(taken.values());
    const place = records.findIndex((r, i) => fits(r, [["step", of("stepId")], ["digest", digest], ...wanted]) && moment(word(r, "at")) === moment(of(time)) && !others.has(i) && also(r));
    if (place >= 0) taken.set(of("id"), place);
    return place >= 0;
  };
  need(find(asked, "requestedAt", [["action", "approval.request"]]), "audit", `the log does not say that approval ${of("id")} was asked for so`);
  const bySystem = by === "system";
  const signed = () => checkSigned(c, a, placed, records[asked.get(of("id")) as number] as AuditRecord);
  if (bySystem && masked(c) && leftOut > 0) return signed(); // the record's reason may quote what must not be seen
  const actor: [string, string][] = bySystem ? [["action", "approval.close"]] : [["action", "approvals.decide"], ["actor", by]];
  need(find(decided, "decidedAt", [...actor, ["after", status]], (r) => saysReason(c, r, "", of("decisionReason")) && sameAssertion(r, list(at(a, "decisions")).at(-1))), "audit", `the log does not say that approval ${of("id")} was decided so`);
  checkEarlier(c, a, records, decided.get(of("id")));
  signed();
}

/** Finds the record of each decision before the last, in the log's order. */
function checkEarlier(c: Claims, a: Json, records: AuditRecord[], last: number | undefined): void {
  const wanted = (d: Json): [string, string][] => [
    ["action", "approvals.decide"], ["step", text(at(a, "stepId"))], ["digest", text(at(a, "requestDigest"))], ["after", "PENDING"], ["actor", text(at(d, "by"))],
  ];
  let from = 0;
  for (const d of list(at(a, "decisions")).slice(0, -1)) {
    const place = records.findIndex((r, i) => i >= from && fits(r, wanted(d)) && moment(word(r, "at")) === moment(text(at(d, "at"))) && saysReason(c, r, "", text(at(d, "reason"))) && sameAssertion(r, d));
    need(place >= 0, "audit", `the log does not say that approval ${text(at(a, "id"))} was approved by ${text(at(d, "by"))} so`);
    from = place + 1;
  }
  need(last === undefined || from <= last, "audit", `the log does not say that approval ${text(at(a, "id"))} was decided in this order`);
}
