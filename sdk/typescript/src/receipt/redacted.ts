// A redacted run has its digests, and not what they are of: its receipt is masked, and says that it
// is redacted. Reasons stand in the log alone, which proves who redacted the run, and when.
import { sameAssertion } from "./sameassertion.js";
import type { Json } from "./canonical.js";
import { at, type Claims, exists, has, masked, redacted, text } from "./claims.js";
import { formats, need } from "./failure.js";
import { moment } from "./moment.js";
import { type AuditRecord, word } from "./record.js";

const gone = "redacted";
const of = (v: Json | undefined, name: string): string => text(at(v, name));

/** Compares what the statement says of a redaction with the run. */
export function checkRedacted(c: Claims): void {
  const [says, by] = [has(c.statement, "redacted"), at(c.run, "redacted")];
  need(!says || (redacted(c) && masked(c) && c.format !== formats[0]), "statement", "redacted can only be true, of a masked receipt of a later format");
  need(exists(by) === says, "statement", "it says otherwise than the run whether that was redacted");
  need(!says || moment(of(by, "at")) !== "", "statement", "the run was redacted at no time in UTC");
}

const isDone = (r: AuditRecord, wanted: [string, string][]): boolean => word(r, "outcome") === "done" && wanted.every(([name, value]) => word(r, name) === value);

/** Finds the record of the redaction, one of each run that was redacted. */
export function checkRedaction(c: Claims, records: AuditRecord[]): void {
  const by = at(c.run, "redacted");
  const found = records.filter((r) => isDone(r, [["action", "runs.redact"], ["step", ""]]));
  const so = found.every((r) => redacted(c) && word(r, "actor") === of(by, "by") && word(r, "at") === of(by, "at"));
  need(so && (!redacted(c) || found.length === 1), "audit", "the log does not say that the run was redacted so");
}

/** Whether a record has the reason that is shown, or redaction has left none of it. */
export function saysReason(c: Claims, r: AuditRecord, before: string, shown: string, behind = ""): boolean {
  const said = word(r, "reason");
  if (redacted(c) && shown === gone) return said.length >= before.length + behind.length && said.startsWith(before) && said.endsWith(behind);
  return said === before + shown + behind;
}

/** The reason that somebody gave with a decision: where redaction has left none, the one that its record has. */
export function reasonOf(c: Claims, a: Json, d: Json, records: AuditRecord[]): string {
  const shown = of(d, "reason");
  if (!redacted(c) || shown !== gone) return shown;
  const wanted: [string, string][] = [["action", "approvals.decide"], ["step", of(a, "stepId")], ["digest", of(a, "requestDigest")], ["actor", of(d, "by")]];
  const found = records.find((r) => isDone(r, wanted) && moment(word(r, "at")) === moment(of(d, "at")) && sameAssertion(r, d));
  return found === undefined ? shown : word(found, "reason");
}
