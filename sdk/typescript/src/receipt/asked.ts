// An approval is of a step of this run and shows the request of its digest.
import type { Json } from "./canonical.js";
import { need } from "./failure.js";
import { live, steps } from "./capability.js";
import { at, type Claims, exists, has, list, masked, text, whole } from "./claims.js";
import { moment } from "./moment.js";
import { asksFor, checkDecisions } from "./rules.js";
import { equal, members, textOf as of } from "./value.js";
import { expectations, shownAs } from "./verified.js";

const stepOf = (c: Claims, a: Json): Json | undefined => steps(c).find((s) => of(s, "id") === of(a, "stepId"));

/** Compares the approvals with the run and its steps. */
export function checkApprovals(c: Claims): void {
  const known = new Set<string>();
  for (const a of list(c.approvals)) {
    need(!known.has(of(a, "id")), "approvals", `approval ${of(a, "id")} stands there twice`);
    known.add(of(a, "id"));
    ofRun(c, a);
  }
  [c.run, ...steps(c)].forEach((by, i) => {
    const id = of(by, "approvalId");
    const found = list(c.approvals).some((a) => of(a, "id") === id && (i === 0 || of(a, "stepId") === of(by, "id")));
    need(id === "" || found, "approvals", `approval ${id}, which ${of(by, "id")} names, is missing`);
  });
}

function ofRun(c: Claims, a: Json): void {
  const check = (ok: boolean, problem: string) => need(ok, "approvals", `approval ${of(a, "id")} ${problem}`);
  const s = stepOf(c, a);
  const attempt = whole(at(a, "attempt"));
  check(of(a, "runId") === of(c.run, "id"), "is of another run");
  check(live(c), "was asked for in a rehearsal");
  check(s !== undefined, "is of no step of the run");
  check(of(a, "planId") === of(c.run, "planId"), "is of another plan");
  check(of(a, "projectId") === of(s, "projectId") && of(a, "capability") === of(s, "capability"), "is of another capability than its step");
  check(attempt >= 1 && attempt <= whole(at(s, "attempt")) + 1, "is of an attempt that its step did not come to");
  check(of(a, "requestedBy") !== "" && of(a, "requestedBy") === of(c.run, "requestedBy") && ["identity", "onBehalfOf"].every((name) => equal(at(a, name), at(c.run, name))), "was requested by somebody else than the run");
  check(["APPROVED", "REJECTED"].includes(of(a, "status")), "is not decided, though the run has ended");
  check(of(a, "decidedBy") !== "", "was decided by nobody");
  for (const name of ["requestedAt", "expiresAt", "decidedAt"]) check(moment(of(a, name)) !== "", `has a ${name} that is no time in UTC`);
  const restored = moment(of(a, "restoredAt"));
  check(!has(a, "restoredAt") || (restored !== "" && restored <= moment(of(c.run, "restoredAt"))), "is of a restore that the run was not of");
  checkDecisions(a, check);
}

/** Compares what an approval shows with its step and its plan. */
export function checkAsked(c: Claims): void {
  for (const a of list(c.approvals)) {
    const check = (ok: boolean, problem: string) => need(ok, "approvals", `approval ${of(a, "id")} ${problem}`);
    const s = stepOf(c, a);
    const same = of(a, "requestDigest") !== "" && of(a, "requestDigest") === of(s, "requestDigest");
    check(!same || equal(at(a, "inputSnapshot"), at(s, "input")), "shows other inputs than its step");
    check(of(a, "requestedByName") === of(c.run, "requestedByName"), "has another requestedByName than the run");
    check(equal(at(a, "agentWords"), at(c.run, "agentWords")), "quotes other words of the agent than the run");
    check(of(a, "runReason") === of(c.run, "reason"), "quotes another reason than the run");
    check(at(a, "sharedMaker") === true || !meet(a), "denies the maker that who asked and who decided share");
    check(asksFor(c, a, s), "asks for other approvals than the rules of its capability");
    if (masked(c)) continue;
    const planned = list(at(c.plan, "steps")).find((p) => of(p, "id") === of(a, "stepId"));
    check(!exists(at(a, "expectation")) || shownAs(at(a, "expectation"), s === undefined ? [] : expectations(c, s, planned)), "shows another expectation than the plan");
    check(!has(a, "sources") || sameSources(list(at(a, "sources")), at(planned, "inputBindings")), "shows other sources than the plan");
  }
}

function sameSources(sources: Json[], bindings: Json | undefined): boolean {
  const seen = new Set(sources.map((from) => of(from, "input")));
  return (
    seen.size === members(bindings).size &&
    sources.every((from) => {
      const b = at(bindings, of(from, "input"));
      return exists(b) && of(b, "stepId") === of(from, "stepId") && of(b, "field") === of(from, "field");
    })
  );
}

/**
 * meet reports that who asked and who decided go back to one maker, by those that the approval names, or that who decided is
 * the person for whom an agent asked. Release 0.1 named none.
 */
function meet(a: Json): boolean {
  const [askers, deciders] = (["requestedByMakers", "decidedByMakers"] as const).map((name) => list(at(a, name)).map(text)) as [string[], string[]];
  const makers = list(at(a, "decisions")).flatMap((d) => list(at(d, "byMakers")).map(text));
  const all = [of(a, "decidedBy"), ...deciders, ...list(at(a, "decisions")).map((d) => of(d, "by")), ...makers];
  const named = askers.length + deciders.length + makers.length > 0;
  const email = of(at(a, "onBehalfOf"), "email");
  const person = email === "" ? [] : [`user:${email}`];
  return named && [of(a, "requestedBy"), ...askers, ...person].some((asker) => all.includes(asker));
}
