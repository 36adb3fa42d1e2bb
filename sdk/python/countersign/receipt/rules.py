"""The approvals of a step are those that the rules of its capability ask for, over the inputs
that it sent."""

from __future__ import annotations

from collections.abc import Callable

from .canonical import Json
from .claims import Claims, at, has, items, of, text, whole
from .failure import need
from .gaterules import Verdict, judge
from .moment import before, moment
from .policy import asks_approval, capability, hides


def verdict(c: Claims, step: Json) -> tuple[Verdict, bool]:
    """What the gate says of a step, and whether that is known: masking may hide inputs that the rules compare."""
    found = capability(c, step)
    rules, asks = items(at(found, "approvalRules")), asks_approval(found)
    plain = Verdict("ASK", 1) if asks else Verdict("ALLOW")
    if not rules or at(step, "request") is None:
        return plain, True
    if hides(c, step):
        return plain, False
    planned = next((each for each in items(at(c.plan, "steps")) if of(each, "id") == of(step, "id")), None)
    bound = at(planned, "inputBindings")
    return judge(rules, asks, at(step, "input"), lambda name: not c.live and has(bound, name)), True


def gated(c: Claims, step: Json) -> bool:
    """A step that needs approval, by its own record or by the plan, whose rules may let it out."""
    said, known = verdict(c, step)
    may_allow = any(of(rule, "then") == "ALLOW" for rule in items(at(capability(c, step), "approvalRules")))
    return at(step, "approvalRequired") is True or (said.then == "ASK" and (known or not may_allow))


def as_judged(c: Claims, step: Json) -> None:
    """Compares a step with what the rules say of its inputs."""
    said, known = verdict(c, step)
    name, would_be = f"step {of(step, 'id')}", of(step, "wouldBe")
    code = of(at(step, "error"), "code")
    denied, by_budget, required = code == "denied_by_rule", code == "denied_by_budget", at(step, "approvalRequired") is True
    may_budget = _may_have_budget(step, capability(c, step))
    unsent = not required and c.live and whole(at(step, "attempt")) <= 0
    need(not by_budget or (unsent and may_budget), "run", f"{name} was denied by a budget that it has not, or was sent")
    if not known or (by_budget and said.then != "DENY"):
        return
    asked = required == (said.then == "ASK") or (said.then == "ALLOW" and may_budget)
    need(asked, "run", f"{name} has another approvalRequired than its capability")
    told = would_be == "" or (not c.live and would_be == ("DENIED" if said.then == "DENY" else said.then))
    need(told, "run", f"{name} has another wouldBe than its capability's rules")
    if not c.live:
        return
    same = denied == (said.then == "DENY")
    need(same, "run", f"{name} was denied by a rule that does not deny it, or was not denied by one that does")
    need(not denied or whole(at(step, "attempt")) <= 0, "run", f"{name} was sent, though a rule denies it")


def _may_have_budget(step: Json, found: Json) -> bool:
    """Whether a budget may have judged a step: one of its capability or of its agent. What
    was used of a budget stands in no receipt, so whether it asked or denied can't be
    computed anew; a step that required approval needs its approvals whoever asked."""
    return bool(items(at(found, "budgets"))) or at(step, "agentId") is not None


def asks_for(c: Claims, a: Json, step: Json) -> bool:
    """Compares what an approval asks for with what the rules of its step say."""
    if step is None:
        return True
    said, known = verdict(c, step)
    same = of(a, "requestDigest") != "" and of(a, "requestDigest") == of(step, "requestDigest")
    if not known or not same or said.then != "ASK":
        return True
    return _needed(a) == said.approvals and _groups(a) == list(said.groups)


def _groups(by: Json) -> list[str]:
    return [text(group) for group in items(at(by, "groups"))]


def _of_older(a: Json) -> bool:
    """An approval of an earlier release, which one decided."""
    return not any(has(a, name) for name in ("approvalsNeeded", "groups", "decisions"))


def _needed(a: Json) -> int:
    """How many must approve; earlier releases, which asked for one, don't say so."""
    return whole(at(a, "approvalsNeeded")) if has(a, "approvalsNeeded") else 1


def check_decisions(a: Json, check: Callable[[bool, str], None]) -> None:
    """Compares the decisions of an approval with what became of it."""
    given = items(at(a, "decisions"))
    if not given:
        return check(_of_older(a), "lacks its decisions")
    check(has(a, "approvalsNeeded"), "doesn't say how many must approve")
    by: set[str] = set()
    for i, decision in enumerate(given):
        check(of(decision, "by") not in ("", *by), "was decided twice by one, or by nobody")
        in_order = moment(of(decision, "at")) != "" and (i == 0 or not before(of(decision, "at"), of(given[i - 1], "at")))
        check(in_order, "has decisions that are not in the order of their times")
        check(_among(_groups(decision), _groups(a)), "was decided for groups that it doesn't name")
        if i < len(given) - 1:
            check(of(decision, "decision") == "APPROVED", "was decided again after a rejection")
        else:
            check(_is_last(decision, a), "was last decided otherwise than its decisions say")
        by.add(of(decision, "by"))
    return None


def _among(names: list[str], every: list[str]) -> bool:
    """Names that are all in a list, in its order and each once."""
    rest = iter(every)
    return all(name in rest for name in names)


def _is_last(decision: Json, a: Json) -> bool:
    same = of(decision, "decision") == of(a, "status") and of(decision, "by") == of(a, "decidedBy")
    return same and of(decision, "reason") == of(a, "decisionReason") and moment(of(decision, "at")) == moment(of(a, "decidedAt"))


def enough(a: Json) -> bool:
    """An approval that as many have given as it asks for, each of them for one of its groups, and each group by somebody."""
    given, groups = items(at(a, "decisions")), _groups(a)
    if not given:
        return _of_older(a)
    counted = [d for d in given if of(d, "decision") == "APPROVED" and at(d, "left") is not True and of(d, "by") != "system"]
    approved = [_groups(d) for d in counted]
    approved = [names for names in approved if not groups or not set(names).isdisjoint(groups)]
    return len(approved) >= max(1, _needed(a)) and all(any(group in names for names in approved) for group in groups)
