"""Compares what the log says of the course of the run with what the run says."""

from __future__ import annotations

from .agree import ENDED
from .canonical import Json
from .capability import hides
from .claims import Claims, at, items, of
from .differs import differs_words
from .failure import need
from .record import Record, done
from .redacted import says_reason

_ASKING = {
    "step.send",
    "step.complete",
    "step.restart",
    "steps.late",
    "runs.reconcile",
    "runs.probe",
    "steps.ask",
    "steps.withdraw",
    "steps.statement",
    "steps.settle",
    "runs.settle",
    "approval.request",
    "approvals.decide",
    "approval.close",
}
_REHEARSING = {"step.simulate"}


def check_started(c: Claims, records: list[Record]) -> None:
    """Finds the record of the run's start: in which mode, of which plan, by whom and why. Who
    asked by an identity is the run's agent, and nobody else acts for a person."""
    identity, behalf, asker = at(c.run, "identity"), at(c.run, "onBehalfOf"), of(c.run, "requestedBy")
    by_agent = asker.startswith("agent:")
    owns = by_agent == (identity is not None) and (asker == f"agent:{of(c.run, 'agentId')}" if by_agent else behalf is None)
    need(owns, "audit", "the run has an identity that is not that of the agent who asked")
    digest, team, agent = of(c.run, "planDigest"), of(c.run, "teamId"), of(c.run, "agentId")
    by = f" by team {team}" if team else f" by agent {agent}" if agent else ""
    why = of(c.run, "reason")
    reason = f"{of(c.run, 'mode')} of plan {of(c.run, 'planId')}{by}{': ' if why else ''}"
    starts = [r for r in records if done(r, action="runs.start", step="")]
    for r in starts:
        same = r.word("digest") == digest and says_reason(c, r, reason, why) and r.word("actor") == asker
        alike = r.members.get("identity") == identity and r.members.get("onBehalfOf") == behalf
        need(same and alike, "audit", "the log says that another run was started: another plan, mode, requester or reason")
    need(len(starts) == 1 or (not starts and digest == ""), "audit", "the log has no start of this run with this plan")


def check_records(c: Claims, records: list[Record]) -> None:
    """Each record of something that was done to a step is of one of the run's, and is what a run of its mode does."""
    known = {of(step, "id") for step in c.steps}
    none = _REHEARSING if c.live else _ASKING
    for r in records:
        if not done(r):
            continue
        step, action = r.word("step"), r.word("action")
        right = not action.startswith("step.") if step == "" else step in known
        need(right, "audit", f"the log says {action} of step {step}, which the run has not")
        need(action not in none, "audit", f"the log says {action}, which no run does that is {of(c.run, 'mode')}")


def check_end(c: Claims, records: list[Record], left_out: int) -> None:
    """Compares how the run ended with the last record of that, and whether it was asked to."""
    status = of(c.run, "status")
    ends = [r for r in records if done(r) and r.word("action") in ("run.complete", "run.fail", "run.cancel")]
    end = ends[-1] if ends else None
    cancel = any(done(r, action="runs.cancel", step="") for r in records)
    asked = at(c.run, "cancelRequested") is True
    unknown = c.masked and left_out > 0
    told = unknown if end is None else end.word("after") == status
    need(told, "audit", f"the log does not say that the run ended {status}")
    need(end is None or end.word("at") == of(c.run, "completedAt"), "audit", "the log does not say that the run ended when it says")
    error = end is None or c.masked or end.word("reason") == of(c.run, "error")
    need(error, "audit", "the log does not say that the run ended for this error")
    need(cancel == asked or (not cancel and unknown), "audit", "the log does not say that cancelling the run was asked for, or says so")


def check_reconciled(c: Claims, step: Json, records: list[Record]) -> None:
    """Compares what a person found out about a step with the last record of that."""
    if hides(c, step):
        return
    name, r = of(step, "id"), at(step, "reconciliation")
    found = [record for record in records if done(record, action="runs.reconcile", step=name)]
    if not found and r is None:
        return
    so = bool(found) and done(found[-1], digest=of(step, "requestDigest"), actor=of(r, "by"), at=of(r, "at"))
    same = so and says_reason(c, found[-1], f"{of(r, 'resolution')}: ", of(r, "evidence"), differs_words(r))
    need(same, "audit", f"the log does not say that step {name} was reconciled so")


def check_outcome(c: Claims, step: Json, records: list[Record], left_out: int) -> None:
    """Compares the status of a step with the last record that settles it. A masked receipt lacks some of them."""
    if c.masked and left_out > 0:
        return
    name, status = of(step, "id"), of(step, "status")
    settling = [r for r in records if done(r, step=name) and r.word("action") in ("step.send", "step.complete", "step.simulate", "runs.reconcile", "steps.settle")]
    last = settling[-1] if settling else Record({})
    action, after = last.word("action"), last.word("after")
    settled = after if after in ENDED else ""
    said = status in ("COMPLETED", "SIMULATED", "ABANDONED")
    need(settled == status if settled else not said, "audit", f"the log does not say that step {name} is {status}")
    if settling:
        judged = action != "step.complete" or last.word("reason") == of(at(step, "verification"), "status")
        need(judged, "audit", f"the log does not say how step {name} was verified")
        same = last.word("digest") == of(step, "requestDigest") and last.word("at") == of(step, "startedAt")
        need(action != "step.simulate" or same, "audit", f"the log does not say that step {name} rehearsed this request")
        need(settled == "" or last.word("at") == of(step, "completedAt"), "audit", f"the log does not say that step {name} ended when it says")
    _check_probes(step, records)


def _check_probes(step: Json, records: list[Record]) -> None:
    """The log has each probe of a step, by whom."""
    by = [r.word("actor") for r in records if done(r, action="runs.probe", step=of(step, "id"))]
    shown = [of(probe, "by") for probe in items(at(step, "probes"))]
    need(by == shown, "audit", f"the log does not say that step {of(step, 'id')} was probed so")
