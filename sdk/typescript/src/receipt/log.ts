// Verifies the signed tree head, each record's way to it (RFC 6962), and that the run
// is what the records say.
import type { Json } from "./canonical.js";
import { need } from "./failure.js";
import { checkSent, hides, moment, type Sendings, steps } from "./gate.js";
import { at, type Checks, type Claims, digits, exists, list, text, whole } from "./meaning.js";

type AuditRecord = { [name: string]: unknown };

export function checkAudit(c: Claims, checks: Checks) {
  const head = at(c.audit, "head");
  const tenant = text(at(head, "tenantId"));
  const signature = text(at(head, "signature"));
  const signedText = `countersign-tree-head/1\n${tenant}\n${digits(at(head, "size"))}\n${text(at(head, "root"))}\n${text(at(head, "at"))}\n`;
  need(/^[0-9a-f]{128}$/.test(signature) && checks.signed(Buffer.from(signedText), signature), "audit", "the tree head is not signed by the key");
  need(tenant === text(at(c.statement, "tenantId")), "audit", "the tree head is of another tenant's log");
  const leftOut = whole(at(c.audit, "leftOut"));
  need(leftOut >= 0, "audit", "leftOut must say how many records were left out");
  const records = included(c, head, checks);
  const decisions = checkCourse(c, records, leftOut);
  return { treeSize: whole(at(head, "size")), treeRoot: text(at(head, "root")), records: records.length, leftOut, ...decisions };
}

function included(c: Claims, head: Json | undefined, checks: Checks): AuditRecord[] {
  const size = whole(at(head, "size"));
  const root = text(at(head, "root"));
  need(size >= 0 && isHash(root), "audit", "the tree head is of no tree");
  const subjects = new Set(list(c.approvals).map((a) => `approval/${text(at(a, "id"))}`)).add(`run/${text(at(c.run, "id"))}`);
  let last = -1;
  return list(at(c.audit, "records")).map((r) => {
    const leaf = text(at(r, "text"));
    const seq = Number(/^\{"seq":(0|[1-9][0-9]{0,14}),/.exec(leaf)?.[1] ?? -1);
    const path = list(at(r, "proof")).map(text);
    const proven = seq > last && seq < size && path.every(isHash) && rootOf(leaf, seq, size, path, checks) === root;
    need(proven, "audit", `a record is not proven to stand in the log at its place: ${seq}`);
    last = seq;
    const record = read(leaf);
    need(subjects.has(word(record, "subject")), "audit", `a record is about something else: ${seq}`);
    return record;
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

function read(leaf: string): AuditRecord {
  try {
    const value: unknown = JSON.parse(leaf); // none of its numbers is looked at
    return typeof value === "object" && value !== null ? (value as AuditRecord) : {};
  } catch {
    return {};
  }
}

const word = (r: AuditRecord, name: string): string => {
  const value = Object.hasOwn(r, name) ? r[name] : undefined;
  return typeof value === "string" ? value : "";
};

/** Compares plan, end, what was sent, who decided and who reconciled, and why. */
function checkCourse(c: Claims, records: AuditRecord[], leftOut: number): { approved: number; unlogged: number } {
  const logged = (...wanted: [string, string][]) => records.some((r) => fits(r, wanted));
  const status = text(at(c.run, "status"));
  const digest = text(at(c.run, "planDigest"));
  need(digest === "" || logged(["action", "runs.start"], ["step", ""], ["digest", digest]), "audit", "the log has no start of this run with this plan");
  const end = records.filter((r) => word(r, "outcome") === "done" && ["run.complete", "run.fail", "run.cancel"].includes(word(r, "action"))).at(-1);
  const unknown = at(c.statement, "masked") === true && leftOut > 0;
  need(end === undefined ? unknown : word(end, "after") === status, "audit", `the log does not say that the run ended ${status}`);
  const told = { approved: 0, unlogged: 0 };
  const decided = new Map<string, number>();
  for (const a of list(c.approvals)) checkDecision(a, records, decided, told);
  const says = (r: AuditRecord) => (action: string, step: string, of: string) => fits(r, [["action", action], ["step", step], ["digest", of]]);
  const sendings = { records: records.map((r) => ({ says: says(r), at: word(r, "at") })), decided };
  for (const s of steps(c)) checkStep(c, s, sendings, logged);
  return told;
}

const fits = (r: AuditRecord, wanted: [string, string][]): boolean => word(r, "outcome") === "done" && wanted.every(([name, value]) => word(r, name) === value);

function checkStep(c: Claims, s: Json, sendings: Sendings, logged: (...wanted: [string, string][]) => boolean): void {
  checkSent(c, s, sendings);
  const id = text(at(s, "id"));
  const r = at(s, "reconciliation");
  const reason = `${text(at(r, "resolution"))}: ${text(at(r, "evidence"))}`;
  const resolved = () => logged(["action", "runs.reconcile"], ["step", id], ["digest", text(at(s, "requestDigest"))], ["reason", reason], ["actor", text(at(r, "by"))]);
  need(!exists(r) || hides(c, s) || resolved(), "audit", `the log does not say that step ${id} was reconciled so`);
}

/** Finds the record of what a person decided, one for each decision. What the system rejected lets nothing out. */
function checkDecision(a: Json, records: AuditRecord[], decided: Map<string, number>, told: { approved: number; unlogged: number }): void {
  const of = (name: string) => text(at(a, name));
  const [status, by, digest] = [of("status"), of("decidedBy"), of("requestDigest")];
  if (status === "APPROVED") told.approved++;
  else if (by === "" || by === "system") return;
  if (digest === "") {
    told.unlogged++; // masking left it out, and the record with it
    return;
  }
  const wanted: [string, string][] = [["action", "approvals.decide"], ["step", of("stepId")], ["digest", digest], ["after", status], ["actor", by], ["reason", of("decisionReason")]];
  const taken = new Set(decided.values());
  const found = records.findIndex((r, i) => fits(r, wanted) && moment(word(r, "at")) === moment(of("decidedAt")) && !taken.has(i));
  need(found >= 0, "audit", `the log does not say that approval ${of("id")} was decided so`);
  decided.set(of("id"), found);
}
