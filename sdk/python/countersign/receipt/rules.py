"""The approvals of a step are those that the rules of its capability ask for, over the inputs
that it sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .canonical import Json
from .capability import asks_approval, capability, edition, hides, planned
from .claims import Claims, at, has, items, members, of, text, whole
from .failure import need
from .gaterules import Verdict, judge
from .moment import before, moment


@dataclass(frozen=True)
class _Judged:
    verdict: Verdict
    known: bool = True
    """False where masking hides inputs that the rules compare."""

    @property
    def asks(self) -> bool:
        return self.verdict.then == "ASK"


def _judged(c: Claims, step: Json) -> _Judged:
    """What the gate says of a step."""
    found = capability(c, step)
    rules, asks = items(at(found, "approvalRules")), asks_approval(c, found)
    plain = Verdict("ASK", 1) if asks else Verdict("ALLOW")
    if not rules or at(step, "request") is None:
        return _Judged(plain)
    if hides(c, step) or c.redacted:
        return _Judged(plain, known=False)
    bound = at(planned(c, step), "inputBindings")
    return _Judged(judge(edition(c), rules, asks, at(step, "input"), [] if c.live else list(members(bound))))


def gated(c: Claims, step: Json) -> bool:
    """A step that needs approval, by its own record or by the plan, whose rules may let it out."""
    judged = _judged(c, step)
    may_allow = any(of(rule, "then") == "ALLOW" for rule in items(at(capability(c, step), "approvalRules")))
    return at(step, "approvalRequired") is True or (judged.asks and (judged.known or not may_allow))


def _may_have_budget(step: Json, found: Json) -> bool:
    """Whether a budget may have judged a step: one of its capability or of its agent. What was
    used of a budget stands in no receipt, so whether it asked or denied can't be computed
    anew; a step that required approval needs its approvals whoever asked."""
    return bool(items(at(found, "budgets"))) or at(step, "agentId") is not None


def as_judged(c: Claims, step: Json) -> None:
    """Compares a step with what the rules say of its inputs."""

    def check(ok: bool, problem: str) -> None:
        need(ok, "run", f"step {of(step, 'id')} {problem}")

    judged = _judged(c, step)
    then, code = judged.verdict.then, of(at(step, "error"), "code")
    denied, by_budget, required = code == "denied_by_rule", code == "denied_by_budget", at(step, "approvalRequired") is True
    sent, may_budget = whole(at(step, "attempt")) > 0, _may_have_budget(step, capability(c, step))
    may_deny = c.live and may_budget and not required and not sent
    check(not by_budget or may_deny, "was denied by a budget that it has not, or was sent")
    if not judged.known or (by_budget and then != "DENY"):
        return
    check(required == judged.asks or (then == "ALLOW" and may_budget), "has another approvalRequired than its capability")
    would_be = of(step, "wouldBe")
    foretold = would_be == "" or (not c.live and would_be == ("DENIED" if then == "DENY" else then))
    check(foretold, "has another wouldBe than its capability's rules")
    if c.live:
        check(denied == (then == "DENY"), "was denied by a rule that does not deny it, or was not denied by one that does")
        check(not denied or not sent, "was sent, though a rule denies it")


def asks_for(c: Claims, a: Json, step: Json) -> bool:
    """Compares what an approval asks for with what the rules of its step say."""
    judged = _judged(c, step)
    same = of(a, "requestDigest") != "" and of(a, "requestDigest") == of(step, "requestDigest")
    if not judged.known or not same or judged.verdict.then == "DENY":
        return True
    approvals = judged.verdict.approvals if judged.asks else 1  # a budget asks for one
    return _needed(a) == approvals and _groups(a) == judged.verdict.groups


def _groups(by: Json) -> list[str]:
    """Those of an approval or of a decision."""
    return [text(group) for group in items(at(by, "groups"))]


def of_older(a: Json) -> bool:
    """An approval of an earlier release, which one decided."""
    return not any(has(a, name) for name in ("approvalsNeeded", "groups", "decisions"))


def _needed(a: Json) -> int:
    """How many must approve; earlier releases, which asked for one, don't say so."""
    return whole(at(a, "approvalsNeeded")) if has(a, "approvalsNeeded") else 1


def check_decisions(a: Json, check: Callable[[bool, str], None]) -> None:
    """Compares the decisions of an approval with what became of it."""
    given = items(at(a, "decisions"))
    if not given:
        return check(of_older(a), "lacks its decisions")
    check(has(a, "approvalsNeeded"), "doesn't say how many must approve")
    by: set[str] = set()
    for i, decision in enumerate(given):
        who, when = of(decision, "by"), of(decision, "at")
        check(who != "" and who not in by, "was decided twice by one, or by nobody")
        ordered = moment(when) != "" and (i == 0 or not before(when, of(given[i - 1], "at")))
        check(ordered, "has decisions that are not in the order of their times")
        check(_among(_groups(decision), _groups(a)), "was decided for groups that it doesn't name")
        check(not has(decision, "assertion") or of(a, "requestDigest") != "", "has a signature, but not the digest that it signs")
        if i < len(given) - 1:
            check(of(decision, "decision") == "APPROVED", "was decided again after a rejection")
        else:
            check(_is_last(decision, a), "was last decided otherwise than its decisions say")
        if at(decision, "left") is not True:  # who gave one that doesn't count may decide again
            by.add(who)
    return None


def _among(names: list[str], every: list[str]) -> bool:
    """Names that are all in a list, in its order and each once."""
    rest = iter(every)
    return all(name in rest for name in names)


def _is_last(decision: Json, a: Json) -> bool:
    same = of(decision, "decision") == of(a, "status") and of(decision, "by") == of(a, "decidedBy")
    told = of(decision, "reason") == of(a, "decisionReason") and moment(of(decision, "at")) == moment(of(a, "decidedAt"))
    return same and told


def enough(a: Json) -> bool:
    """An approval that as many have given as it asks for, each of them for one of its groups,
    and each group by somebody."""
    given, wanted = items(at(a, "decisions")), set(_groups(a))
    if not given:
        return of_older(a)
    approved = [
        set(_groups(decision))
        for decision in given
        if of(decision, "decision") == "APPROVED" and at(decision, "left") is not True and of(decision, "by") != "system"
    ]
    counted = [groups for groups in approved if not wanted or groups & wanted]
    return len(counted) >= max(1, _needed(a)) and wanted <= set[str]().union(*counted)
