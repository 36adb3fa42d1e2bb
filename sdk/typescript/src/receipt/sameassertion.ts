// A record of the log and a decision have the same passkey's signature, or neither has one.
import type { Json } from "./canonical.js";
import { at, exists, text } from "./claims.js";
import { type AuditRecord, word } from "./record.js";

const of = (v: Json | undefined, name: string): string => text(at(v, name));

export const child = (r: AuditRecord, name: string): AuditRecord | undefined => {
  const value = Object.hasOwn(r, name) ? r[name] : undefined;
  return value === undefined || value === null ? undefined : typeof value === "object" ? (value as AuditRecord) : {};
};

const members = ["credentialId", "authenticatorData", "clientDataJSON", "signature", "publicKey", "rpId"];

/** sameAssertion reports that a record and a decision have the same assertion, or none. */
export function sameAssertion(record: AuditRecord, decision: Json | undefined): boolean {
  const [a, b] = [child(record, "assertion"), at(decision, "assertion")];
  return (a !== undefined) === exists(b) && members.every((name) => word(a ?? {}, name) === of(b, name));
}
