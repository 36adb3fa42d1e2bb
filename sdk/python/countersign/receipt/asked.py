"""An approval is of a step of this run and shows the request of its digest."""

from __future__ import annotations

from .canonical import Json
from .capability import planned
from .claims import Claims, at, has, items, members, of, text, whole
from .failure import need
from .moment import moment
from .rules import asks_for, check_decisions
from .values import equal
from .verified import expectations, shown_as


def _step_of(c: Claims, approval: Json) -> Json:
    return next((step for step in c.steps if of(step, "id") == of(approval, "stepId")), None)


def check_approvals(c: Claims) -> None:
    """Compares the approvals with the run and its steps."""
    known: set[str] = set()
    for a in items(c.approvals):
        need(of(a, "id") not in known, "approvals", f"approval {of(a, 'id')} stands there twice")
        known.add(of(a, "id"))
        _of_run(c, a)
    for by, of_step in [(c.run, False), *((step, True) for step in c.steps)]:
        name = of(by, "approvalId")
        found = any(of(a, "id") == name and (not of_step or of(a, "stepId") == of(by, "id")) for a in items(c.approvals))
        need(name == "" or found, "approvals", f"approval {name}, which {of(by, 'id')} names, is missing")


def _of_run(c: Claims, a: Json) -> None:
    def check(ok: bool, problem: str) -> None:
        need(ok, "approvals", f"approval {of(a, 'id')} {problem}")

    step = _step_of(c, a)
    check(of(a, "runId") == of(c.run, "id"), "is of another run")
    check(c.live, "was asked for in a rehearsal")
    check(step is not None, "is of no step of the run")
    check(of(a, "planId") == of(c.run, "planId"), "is of another plan")
    same = of(a, "projectId") == of(step, "projectId") and of(a, "capability") == of(step, "capability")
    check(same, "is of another capability than its step")
    come = 1 <= whole(at(a, "attempt")) <= whole(at(step, "attempt")) + 1
    check(come, "is of an attempt that its step did not come to")
    by = of(a, "requestedBy") != "" and of(a, "requestedBy") == of(c.run, "requestedBy")
    for name in ("identity", "onBehalfOf"):
        by = by and equal(at(a, name), at(c.run, name))
    check(by, "was requested by somebody else than the run")
    check(of(a, "status") in ("APPROVED", "REJECTED"), "is not decided, though the run has ended")
    check(of(a, "decidedBy") != "", "was decided by nobody")
    for name in ("requestedAt", "expiresAt", "decidedAt"):
        check(moment(of(a, name)) != "", f"has a {name} that is no time in UTC")
    restored = not has(a, "restoredAt") or "" < moment(of(a, "restoredAt")) <= moment(of(c.run, "restoredAt"))
    check(restored, "is of a restore that the run was not of")
    check_decisions(a, check)


def check_asked(c: Claims) -> None:
    """Compares what an approval shows with its step and its plan."""
    for a in items(c.approvals):

        def check(ok: bool, problem: str, a: Json = a) -> None:
            need(ok, "approvals", f"approval {of(a, 'id')} {problem}")

        step = _step_of(c, a)
        same = of(a, "requestDigest") != "" and of(a, "requestDigest") == of(step, "requestDigest")
        check(not same or equal(at(a, "inputSnapshot"), at(step, "input")), "shows other inputs than its step")
        check(of(a, "requestedByName") == of(c.run, "requestedByName"), "has another requestedByName than the run")
        check(equal(at(a, "agentWords"), at(c.run, "agentWords")), "quotes other words of the agent than the run")
        check(of(a, "runReason") == of(c.run, "reason"), "quotes another reason than the run")
        check(at(a, "sharedMaker") is True or not _meet(a), "denies the maker that who asked and who decided share")
        check(asks_for(c, a, step), "asks for other approvals than the rules of its capability")
        if c.masked:
            continue
        plan = planned(c, step)
        told = at(a, "expectation") is None or shown_as(at(a, "expectation"), expectations(c, step, plan))
        check(told, "shows another expectation than the plan")
        sources = not has(a, "sources") or _same_sources(items(at(a, "sources")), at(plan, "inputBindings"))
        check(sources, "shows other sources than the plan")


def _same_sources(sources: list[Json], bindings: Json) -> bool:
    def bound(source: Json) -> bool:
        binding = at(bindings, of(source, "input"))
        return binding is not None and of(binding, "stepId") == of(source, "stepId") and of(binding, "field") == of(source, "field")

    return len({of(source, "input") for source in sources}) == len(members(bindings)) and all(map(bound, sources))


def _meet(a: Json) -> bool:
    """Whether who asked and who decided go back to one maker, by those that the approval
    names, or who decided is the person for whom an agent asked. Release 0.1 named none."""
    askers, deciders = ([text(maker) for maker in items(at(a, name))] for name in ("requestedByMakers", "decidedByMakers"))
    decisions = items(at(a, "decisions"))
    makers = [text(maker) for decision in decisions for maker in items(at(decision, "byMakers"))]
    every = {of(a, "decidedBy"), *deciders, *makers, *(of(decision, "by") for decision in decisions)}
    email = of(at(a, "onBehalfOf"), "email")
    asked = {of(a, "requestedBy"), *askers, *([f"user:{email}"] if email else [])}
    return bool(askers or deciders or makers) and not every.isdisjoint(asked)
