// Verifies the signed tree head, each record's way to it (RFC 6962), and that the run
// is what the records say.
import type { Json } from "./canonical.js";
import { need } from "./failure.js";
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
  const approved = checkCourse(c, records, leftOut);
  return { treeSize: whole(at(head, "size")), treeRoot: text(at(head, "root")), records: records.length, leftOut, approved };
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
function checkCourse(c: Claims, records: AuditRecord[], leftOut: number): number {
  const logged = (...wanted: [string, string][]) => records.some((r) => word(r, "outcome") === "done" && wanted.every(([name, value]) => word(r, name) === value));
  const status = text(at(c.run, "status"));
  need(logged(["action", "runs.start"], ["step", ""], ["digest", text(at(c.run, "planDigest"))]), "audit", "the log has no start of this run with this plan");
  const end = records.filter((r) => word(r, "outcome") === "done" && ["run.complete", "run.fail", "run.cancel"].includes(word(r, "action"))).at(-1);
  need(end === undefined ? leftOut > 0 : word(end, "after") === status, "audit", `the log does not say that the run ended ${status}`);
  const live = text(at(c.run, "mode")) === "LIVE";
  for (const s of list(at(c.run, "steps"))) checkStep(s, live, logged);
  return list(c.approvals).filter((a) => checkDecision(a, logged)).length;
}

type Logged = (...wanted: [string, string][]) => boolean;

function checkStep(s: Json, live: boolean, logged: Logged): void {
  const id = text(at(s, "id"));
  const about = (action: string): [string, string][] => [["action", action], ["step", id], ["digest", text(at(s, "requestDigest"))]];
  need(!live || whole(at(s, "attempt")) === 0 || logged(...about("step.send")), "audit", `the log does not say that step ${id} sent this request`);
  const r = at(s, "reconciliation");
  const resolved = () => logged(...about("runs.reconcile"), ["reason", `${text(at(r, "resolution"))}: ${text(at(r, "evidence"))}`], ["actor", text(at(r, "by"))]);
  need(!exists(r) || resolved(), "audit", `the log does not say that step ${id} was reconciled so`);
}

/** What the system rejected lets nothing out. The answer is whether it was approved. */
function checkDecision(a: Json, logged: Logged): boolean {
  const of = (name: string) => text(at(a, name));
  const [status, by] = [of("status"), of("decidedBy")];
  if (status !== "APPROVED" && (by === "" || by === "system")) return false;
  const decided = logged(["action", "approvals.decide"], ["step", of("stepId")], ["digest", of("requestDigest")], ["after", status], ["actor", by], ["reason", of("decisionReason")]);
  need(decided, "audit", `the log does not say that approval ${of("id")} was decided so`);
  return status === "APPROVED";
}
