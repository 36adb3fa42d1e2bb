// The approvals of a step are those that the rules of its capability ask for, over the
// inputs that it sent.
import type { Json } from "./canonical.js";
import { at, type Claims, exists, has, list, redacted, text, whole } from "./claims.js";
import { need } from "./failure.js";
import { judge, type Verdict } from "./gaterules.js";
import { asksApproval, capability, edition, hides, live } from "./capability.js";
import { before, moment } from "./moment.js";
import { members, textOf as of } from "./value.js";

/** What the gate says of a step; not known where masking hides inputs that the rules compare. */
export function verdict(c: Claims, s: Json): Verdict & { known: boolean } {
  const found = capability(c, s);
  const rules = list(at(found, "approvalRules"));
  const asks = asksApproval(c, found);
  const plain: Verdict = asks ? { then: "ASK", approvals: 1, groups: [] } : { then: "ALLOW", approvals: 0, groups: [] };
  if (rules.length === 0 || !exists(at(s, "request"))) return { ...plain, known: true };
  if (hides(c, s) || redacted(c)) return { ...plain, known: false };
  const planned = list(at(c.plan, "steps")).find((p) => of(p, "id") === of(s, "id"));
  const bound = at(planned, "inputBindings");
  return { ...judge(edition(c), rules, asks, at(s, "input"), live(c) ? [] : [...members(bound).keys()]), known: true };
}

const mayAllow = (found: Json | undefined): boolean => list(at(found, "approvalRules")).some((r) => of(r, "then") === "ALLOW");

/** gated reports a step that needs approval, by its own record or by the plan, whose rules may let it out. */
export function gated(c: Claims, s: Json): boolean {
  const v = verdict(c, s);
  return at(s, "approvalRequired") === true || (v.then === "ASK" && (v.known || !mayAllow(capability(c, s))));
}

/**
 * Whether a budget may have judged a step: one of its capability or of its agent. What was
 * used of a budget stands in no receipt, so whether it asked or denied can't be computed
 * anew; a step that required approval needs its approvals whoever asked.
 */
const mayHaveBudget = (s: Json, found: Json | undefined): boolean => list(at(found, "budgets")).length > 0 || exists(at(s, "agentId"));

/** Compares a step with what the rules say of its inputs. */
export function asJudged(c: Claims, s: Json): void {
  const v = verdict(c, s);
  const step = `step ${of(s, "id")}`;
  const code = of(at(s, "error"), "code");
  const [denied, byBudget, required] = [code === "denied_by_rule", code === "denied_by_budget", at(s, "approvalRequired") === true];
  const mayBudget = mayHaveBudget(s, capability(c, s));
  need(!byBudget || (!required && live(c) && whole(at(s, "attempt")) <= 0 && mayBudget), "run", `${step} was denied by a budget that it has not, or was sent`);
  if (!v.known || (byBudget && v.then !== "DENY")) return;
  const wouldBe = of(s, "wouldBe");
  need(required === (v.then === "ASK") || (v.then === "ALLOW" && mayBudget), "run", `${step} has another approvalRequired than its capability`);
  need(wouldBe === "" || (!live(c) && wouldBe === (v.then === "DENY" ? "DENIED" : v.then)), "run", `${step} has another wouldBe than its capability's rules`);
  if (!live(c)) return;
  need(denied === (v.then === "DENY"), "run", `${step} was denied by a rule that does not deny it, or was not denied by one that does`);
  need(!denied || whole(at(s, "attempt")) <= 0, "run", `${step} was sent, though a rule denies it`);
}

/** Compares what an approval asks for with what the rules of its step say. */
export function asksFor(c: Claims, a: Json, s: Json | undefined): boolean {
  if (s === undefined) return true;
  const v = verdict(c, s);
  const same = of(a, "requestDigest") !== "" && of(a, "requestDigest") === of(s, "requestDigest");
  if (!v.known || !same || v.then === "DENY") return true;
  const groups = list(at(a, "groups")).map(text);
  const approvals = v.then === "ALLOW" ? 1 : v.approvals; // a budget asks for one
  return needed(a) === approvals && groups.length === v.groups.length && groups.every((g, i) => g === v.groups[i]);
}

/** ofOlder reports an approval of an earlier release, which one decided. */
export const ofOlder = (a: Json): boolean => !["approvalsNeeded", "groups", "decisions"].some((name) => has(a, name));

/** How many must approve; earlier releases, which asked for one, don't say so. */
const needed = (a: Json): number => (has(a, "approvalsNeeded") ? whole(at(a, "approvalsNeeded")) : 1);

/** Compares the decisions of an approval with what became of it. */
export function checkDecisions(a: Json, check: (ok: boolean, problem: string) => void): void {
  const given = list(at(a, "decisions"));
  if (given.length === 0) return check(ofOlder(a), "lacks its decisions");
  check(has(a, "approvalsNeeded"), "doesn't say how many must approve");
  const by = new Set<string>();
  given.forEach((d, i) => {
    check(of(d, "by") !== "" && !by.has(of(d, "by")), "was decided twice by one, or by nobody");
    check(moment(of(d, "at")) !== "" && (i === 0 || !before(of(d, "at"), of(given[i - 1], "at"))), "has decisions that are not in the order of their times");
    check(among(list(at(d, "groups")).map(text), list(at(a, "groups")).map(text)), "was decided for groups that it doesn't name");
    check(!has(d, "assertion") || of(a, "requestDigest") !== "", "has a signature, but not the digest that it signs");
    if (i < given.length - 1) check(of(d, "decision") === "APPROVED", "was decided again after a rejection");
    else check(isLast(d, a), "was last decided otherwise than its decisions say");
    if (at(d, "left") !== true) by.add(of(d, "by")); // who gave one that doesn't count may decide again
  });
}

/** among reports names that are all in a list, in its order and each once. */
function among(names: string[], all: string[]): boolean {
  let from = 0;
  return names.every((name) => {
    const i = all.indexOf(name, from);
    from = i + 1;
    return i >= 0;
  });
}

const isLast = (d: Json, a: Json): boolean =>
  of(d, "decision") === of(a, "status") && of(d, "by") === of(a, "decidedBy") && of(d, "reason") === of(a, "decisionReason") && moment(of(d, "at")) === moment(of(a, "decidedAt"));

/** enough reports an approval that as many have given as it asks for, each of them for one of its groups, and each group by somebody. */
export function enough(a: Json): boolean {
  const given = list(at(a, "decisions"));
  const groups = list(at(a, "groups")).map(text);
  if (given.length === 0) return ofOlder(a);
  const approved = given
    .filter((d) => of(d, "decision") === "APPROVED" && at(d, "left") !== true && of(d, "by") !== "system")
    .map((d) => list(at(d, "groups")).map(text))
    .filter((of) => groups.length === 0 || of.some((g) => groups.includes(g)));
  return approved.length >= Math.max(1, needed(a)) && groups.every((g) => approved.some((of) => of.includes(g)));
}
