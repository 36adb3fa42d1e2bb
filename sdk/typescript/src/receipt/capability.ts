// What the plan's snapshot says of the capability of a step.
import type { Json } from "./canonical.js";
import { at, type Claims, exists, has, list, text, whole } from "./claims.js";
import { folding } from "./gaterules.js";

export const steps = (c: Claims): Json[] => list(at(c.run, "steps"));
export const live = (c: Claims): boolean => text(at(c.run, "mode")) === "LIVE";

/** hides reports a step whose request masking left out. */
export const hides = (c: Claims, s: Json): boolean => at(c.statement, "masked") === true && exists(at(s, "request")) && !has(s, "requestDigest");

export function capability(c: Claims, s: Json): Json | undefined {
  const projects = list(at(c.plan, "projectSnapshots")).filter((p) => text(at(p, "id")) === text(at(s, "projectId")));
  return projects.flatMap((p) => list(at(p, "capabilities"))).find((found) => text(at(found, "name")) === text(at(s, "capability")));
}

export function hasEffect(found: Json | undefined): boolean {
  const told = at(found, "sideEffect");
  return typeof told === "boolean" ? told : text(at(found, "method")) !== "GET";
}

/** edition is the one by which the plan says that its rules are judged, 0 for the first. */
export const edition = (c: Claims): number => Math.max(0, whole(at(c.plan, "gate")));

export function asksApproval(c: Claims, found: Json | undefined): boolean {
  switch (text(at(found, "approval"))) {
    case "NONE":
      return false;
    case "ALWAYS":
      return true;
    case "RISK_BASED":
      if (edition(c) >= folding && list(at(found, "approvalRules")).length > 0) return hasEffect(found);
      return hasEffect(found) && (at(found, "idempotent") !== true || text(at(found, "method")) === "DELETE");
    default:
      return hasEffect(found);
  }
}
