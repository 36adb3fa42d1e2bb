/** A record of the log. None of its numbers is looked at. */
export type AuditRecord = { [name: string]: unknown };

export function read(leaf: string): AuditRecord {
  try {
    const value: unknown = JSON.parse(leaf);
    return typeof value === "object" && value !== null ? (value as AuditRecord) : {};
  } catch {
    return {};
  }
}

export const word = (r: AuditRecord, name: string): string => {
  const value = Object.hasOwn(r, name) ? r[name] : undefined;
  return typeof value === "string" ? value : "";
};
