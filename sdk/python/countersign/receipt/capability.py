"""What the plan's snapshot says of the capability of a step."""

from __future__ import annotations

from .canonical import Json
from .claims import Claims, at, has, items, of, whole
from .gaterules import FOLDING


def hides(c: Claims, step: Json) -> bool:
    """A step whose request masking left out."""
    return c.masked and at(step, "request") is not None and not has(step, "requestDigest")


def planned(c: Claims, step: Json) -> Json:
    """The step as it stands in the plan."""
    return next((each for each in items(at(c.plan, "steps")) if of(each, "id") == of(step, "id")), None)


def capability(c: Claims, by: Json) -> Json:
    for project in items(at(c.plan, "projectSnapshots")):
        if of(project, "id") == of(by, "projectId"):
            for found in items(at(project, "capabilities")):
                if of(found, "name") == of(by, "capability"):
                    return found
    return None


def has_effect(found: Json) -> bool:
    told = at(found, "sideEffect")
    return told if isinstance(told, bool) else of(found, "method") != "GET"


def edition(c: Claims) -> int:
    """The one by which the plan says that its rules are judged, 0 for the first."""
    return max(0, whole(at(c.plan, "gate")))


def asks_approval(c: Claims, found: Json) -> bool:
    policy = of(found, "approval")
    if policy in ("NONE", "ALWAYS"):
        return policy == "ALWAYS"
    if policy == "RISK_BASED":
        if edition(c) >= FOLDING and items(at(found, "approvalRules")):
            return has_effect(found)
        return has_effect(found) and (at(found, "idempotent") is not True or of(found, "method") == "DELETE")
    return has_effect(found)
