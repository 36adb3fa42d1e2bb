import type { Json } from "./canonical.js";
import { at, has, text } from "./claims.js";

const timeForm = /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?Z$/;

/** moment is a time in UTC so that texts compare as times do; "" for anything else. */
export function moment(value: string): string {
  const found = timeForm.exec(value);
  if (found === null) return "";
  const [, seconds, fraction] = found as unknown as [string, string, string | undefined];
  const read = new Date(`${seconds}Z`);
  // A day that its month has not is read as one of the next month.
  return Number.isNaN(read.getTime()) || read.toISOString().slice(0, 19) !== seconds ? "" : `${seconds}.${(fraction ?? "").padEnd(9, "0")}`;
}

/** before reports two times of which the first is the earlier. */
export function before(a: string, b: string): boolean {
  return moment(a) !== "" && moment(a) < moment(b);
}

/** noTime is the first of these members that is there and is no time, "" for none. */
export function noTime(v: Json | undefined, ...members: string[]): string {
  return members.find((name) => has(v, name) && moment(text(at(v, name))) === "") ?? "";
}
