// Nothing is sent without the approval that it needs: a receipt of a run in which
// something was holds only with that approval in it, decided in time, for what was
// sent, and by whom the log says.
import type { Json } from "./canonical.js";
import { need } from "./failure.js";
import { before } from "./moment.js";
import { hides, live, steps } from "./capability.js";
import { at, type Claims, list, text, whole } from "./claims.js";
import { enough, gated } from "./rules.js";

const sent = (c: Claims, s: Json): boolean => live(c) && whole(at(s, "attempt")) > 0;

/** Finds the approval that let each sending of each step out. */
export function checkGate(c: Claims): void {
  for (const s of steps(c)) {
    if (!sent(c, s) || !gated(c, s)) continue;
    for (let attempt = 1; attempt <= whole(at(s, "attempt")); attempt++) {
      need(letOut(c, s, attempt).length > 0, "approvals", `step ${text(at(s, "id"))} needs approval and was sent without one that was given in time for what it sent`);
    }
  }
}

/** The approvals that let one sending out, as they say themselves. One that expires before its step begins is asked for anew. */
export function letOut(c: Claims, s: Json, attempt: number): Json[] {
  return list(c.approvals).filter((a) => {
    const same = text(at(a, "stepId")) === text(at(s, "id")) && whole(at(a, "attempt")) === attempt && text(at(a, "requestDigest")) === text(at(s, "requestDigest"));
    const by = text(at(a, "decidedBy"));
    return same && by !== "" && by !== "system" && text(at(a, "status")) === "APPROVED" && before(text(at(a, "decidedAt")), text(at(a, "expiresAt"))) && enough(a);
  });
}

/** A record of the log, with the approvals whose decisions are known by their place in it. */
export interface Sendings {
  records: { says(action: string, step: string, digest?: string): boolean; at: string }[];
  decided: Map<string, number>;
}

/** Finds the record of each sending of a step and, where it needs approval, that of the decision before it. */
export function checkSent(c: Claims, s: Json, log: Sendings): void {
  if (!live(c) || hides(c, s)) return;
  const id = text(at(s, "id"));
  const sendings = log.records.flatMap((r, i) => (r.says("step.send", id, text(at(s, "requestDigest"))) ? [i] : []));
  need(sendings.length === whole(at(s, "attempt")), "audit", `the log does not say that step ${id} sent this request, and as often as it says`);
  const others = log.records.filter((r) => r.says("step.send", id)).length - sendings.length;
  need(others === 0, "audit", `the log says that step ${id} sent another request`);
  const last = sendings.at(-1);
  need(last === undefined || log.records[last]?.at === text(at(s, "startedAt")), "audit", `the log does not say that step ${id} was last sent when it says`);
  sendings.forEach((sending, n) => {
    const approved = letOut(c, s, n + 1).some((a) => {
      const decided = log.decided.get(text(at(a, "id")));
      return decided !== undefined && decided < sending && before(log.records[sending]?.at ?? "", text(at(a, "expiresAt")));
    });
    need(!gated(c, s) || approved, "audit", `the log does not say that step ${id} was approved, in time, before it was sent`);
  });
}
