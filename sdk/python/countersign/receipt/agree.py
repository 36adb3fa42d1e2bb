"""What the sections say of the same thing must be the same. The plan's content comes to its
digest, which the log has; the run's steps are those of the plan."""

from __future__ import annotations

from .canonical import Json
from .capability import capability, has_effect
from .claims import Claims, at, digits, has, items, members, of, sha256, whole
from .differs import as_differing
from .failure import FORMATS, need
from .gaterules import FOLDING
from .moment import no_time
from .rules import as_judged
from .values import encoded, equal, plan_content
from .verified import as_verified, expectations

ENDED = ("COMPLETED", "SIMULATED", "FAILED", "ABANDONED", "CANCELLED", "SKIPPED")


def check_run(c: Claims) -> None:
    need(of(c.run, "status") in ("COMPLETED", "FAILED", "CANCELLED"), "run", "the run has not ended")
    need(of(c.run, "mode") in ("LIVE", "DRY_RUN"), "run", "its mode must be DRY_RUN or LIVE")
    need(at(c.run, "waitingFor") is None, "run", "it has ended and waits for nothing")
    wrong = no_time(c.run, "createdAt", "updatedAt", "completedAt", "restoredAt")
    need(wrong == "", "run", f"{wrong} must be a time in UTC")


def check_plan(c: Claims) -> bool:
    """Compares the plan with the run, with its digest and with its snapshots; true where
    masking left something of it out."""
    digest = of(c.plan, "planDigest")
    same = of(c.plan, "id") == of(c.run, "planId") and digest == of(c.run, "planDigest")
    need(same, "plan", "it is another plan than the run's")
    need(c.masked or digest != "", "plan", "its digest is missing")
    need(of(c.plan, "mode") == of(c.run, "mode"), "plan", "its mode is not the run's")
    ready = of(c.plan, "status") == "READY" and not items(at(c.plan, "validationErrors"))
    need(ready, "plan", "it is not READY, so that no run of it could start")
    gated = c.format != FORMATS[0] and whole(at(c.plan, "gate")) == FOLDING
    need(not has(c.plan, "gate") or gated, "plan", "its gate is of no edition that this format has")
    computed = sha256(plan_content(c.plan).encode()) == digest
    need(computed or c.masked, "plan", "its content does not come to its digest")
    _check_snapshots(c)
    return not computed


def _check_snapshots(c: Claims) -> None:
    refs = items(at(c.plan, "projects"))
    known: set[str] = set()
    for project in items(at(c.plan, "projectSnapshots")):
        name = of(project, "id")
        named = any(of(ref, "id") == name and digits(at(ref, "revision")) == digits(at(project, "revision")) for ref in refs)
        need(named and name not in known, "plan", f"it does not name this snapshot of project {name}")
        known.add(name)
        names = [of(found, "name") for found in items(at(project, "capabilities"))]
        need(len(set(names)) == len(names), "plan", f"project {name} has a capability twice")
    for ref in refs:
        need(of(ref, "id") in known, "plan", f"its snapshot of project {of(ref, 'id')} is missing")
    model = at(c.plan, "modelSnapshot")
    need(model is None or _named(model, c.plan), "plan", "it does not name this snapshot of its model")
    for model in items(at(c.plan, "models")):
        named = any(_named(model, agent) for agent in items(at(c.plan, "agents")))
        need(named, "plan", f"it does not name this snapshot of model {of(model, 'id')}")


def _named(model: Json, by: Json) -> bool:
    return of(by, "modelId") == of(model, "id") and digits(at(by, "modelRevision")) == digits(at(model, "revision"))


def check_steps(c: Claims) -> None:
    """The steps are those of the plan, in its order, and what it says of a step's capability
    is what the gate went by."""
    planned = items(at(c.plan, "steps"))
    need(len(planned) == len(c.steps), "run", "its steps are not those of the plan")
    known: set[str] = set()
    for step, plan in zip(c.steps, planned, strict=True):
        name = of(step, "id")
        need(name != "" and name not in known, "run", "its steps must have ids, each once")
        known.add(name)
        _as_planned(c, step, plan)
        _as_capable(c, step)
        _as_sent(c, step)
        as_differing(c, step)
    _check_whole(c)


def _as_planned(c: Claims, step: Json, planned: Json) -> None:
    name = f"step {of(step, 'id')}"
    for member in ("id", "name", "projectId", "capability", "actionId", "agentId"):
        need(of(step, member) == of(planned, member), "run", f"{name} has another {member} than in the plan")
    depends = [encoded(items(at(value, "dependsOn"))) for value in (step, planned)]
    need(depends[0] == depends[1], "run", f"{name} has another dependsOn than in the plan")
    key = f"{of(c.run, 'id')}.{of(step, 'id')}"
    need(of(step, "idempotencyKey") == key, "run", f"{name} has another idempotencyKey than the run's id, a dot and its own id")
    if c.masked:
        return
    bound = at(planned, "inputBindings")
    for member, value in members(at(planned, "input")).items():
        need(has(bound, member) or equal(value, at(at(step, "input"), member)), "run", f"{name} has another input {member} than in the plan")
    for member in members(at(step, "input")):
        need(has(at(planned, "input"), member) or has(bound, member), "run", f"{name} has an input {member} that the plan has not")
    as_verified(step, expectations(c, step, planned))


def _as_capable(c: Claims, step: Json) -> None:
    name = f"step {of(step, 'id')}"
    found = capability(c, step)
    need(found is not None, "run", f"{name} calls the capability {of(step, 'capability')}, which the plan has not")
    need((at(step, "sideEffect") is True) == has_effect(found), "run", f"{name} has another sideEffect than its capability")
    as_judged(c, step)


def _as_sent(c: Claims, step: Json) -> None:
    """Compares what a step says of its sendings with its mode and status."""
    name, status = f"step {of(step, 'id')}", of(step, "status")
    completed = status in ("COMPLETED", "ABANDONED")
    answered = any(at(step, member) is not None for member in ("response", "reconciliation", "late")) or bool(items(at(step, "probes")))
    attempt = whole(at(step, "attempt"))
    need(status in ENDED, "run", f"{name} has a status that no ended run leaves")
    need(attempt >= 0, "run", f"{name} doesn't say how often it was sent")
    sent = attempt > 0 or completed or answered or at(step, "approvalId") is not None
    need(c.live or not sent, "run", f"{name} was sent, though the run is a rehearsal")
    need(not c.live or status != "SIMULATED", "run", f"{name} was simulated, though the run is LIVE")
    begun = completed or answered or (at(step, "startedAt") is not None and c.live)
    need(attempt > 0 or not begun, "run", f"{name} is {status} and was never sent")
    error = f"{of(at(step, 'error'), 'code')}: {of(at(step, 'error'), 'message')}"
    need(status != "FAILED" or c.masked or error == of(c.run, "error"), "run", f"{name} failed for another error than the run")
    need(no_time(step, "startedAt", "completedAt") == "", "run", f"{name} has a time that is not in UTC")


def _check_whole(c: Claims) -> None:
    """Compares the run with its steps."""
    done = all(of(step, "status") in ("COMPLETED", "SIMULATED") for step in c.steps)
    need(of(c.run, "status") != "COMPLETED" or done, "run", "it is COMPLETED, and a step is not")
    unverified = sum(of(step, "status") == "COMPLETED" and of(at(step, "verification"), "status") == "NOT_REQUESTED" for step in c.steps)
    counted = whole(at(c.run, "unverifiedSteps")) == unverified
    need(counted, "run", "unverifiedSteps is not how many steps nothing was asked of")
    may_have = any(at(step, "mayHaveHappened") is True for step in c.steps)
    need((at(c.run, "mayHaveHappened") is True) == may_have, "run", "mayHaveHappened is not what its steps say")
    team, agents = at(c.plan, "team"), items(at(c.plan, "agents"))
    agent = of(agents[0], "id") if len(agents) == 1 and team is None else ""
    same = of(c.run, "teamId") == of(team, "id") and of(c.run, "agentId") == agent
    need(same, "run", "it is of another agent or team than its plan")


def revision(c: Claims, project_id: str) -> str:
    """That of a project in the plan, as its digits."""
    return next((digits(at(ref, "revision")) for ref in items(at(c.plan, "projects")) if of(ref, "id") == project_id), "")
