"""What judged a step's answer is what the plan and its capability expect."""

from __future__ import annotations

from .canonical import Json
from .claims import Claims, at, items, of
from .failure import need
from .policy import capability
from .values import equal


def expectations(c: Claims, step: Json, planned: Json) -> list[Json]:
    """Those that judge the answer to a step: its capability's, and besides it the plan's own of the step."""
    both = (at(capability(c, step), "expectation"), at(planned, "expectation"))
    return [expectation for expectation in both if expectation is not None]


def as_verified(step: Json, expected: list[Json]) -> None:
    """Compares what judged the output with the expectations, and the judgement with the status."""
    name, status = f"step {of(step, 'id')}", of(step, "status")
    verification = at(step, "verification")
    judged = of(verification, "status")
    wanted = {"COMPLETED": "PASSED" if expected else "NOT_REQUESTED", "SIMULATED": "SIMULATED"}.get(status, judged)
    need(judged == wanted, "run", f"{name} is {status} and was not verified so")
    if verification is None:
        return
    need(_judged_by(verification, expected), "run", f"{name} was verified by another expectation than in the plan")
    for check in [*items(at(verification, "checks")), verification]:
        met = of(check, "status") != "PASSED" or equal(at(check, "actual"), at(check, "expected"))
        need(met, "run", f"{name} was verified as passed, and is not what was expected")


def _judged_by(verification: Json, expected: list[Json]) -> bool:
    """A verification names the expectation that it judged by. Where there are several, its
    checks name each, and what it says itself is the judgement of one."""
    checks, status = items(at(verification, "checks")), of(verification, "status")
    if len(expected) < 2:
        return not checks and _by_this(verification, expected[0] if expected else None)

    def itself(check: Json) -> bool:
        same = of(check, "status") == status and of(check, "field") == of(verification, "field")
        return same and all(equal(at(check, name), at(verification, name)) for name in ("expected", "actual"))

    if len(checks) != len(expected):
        return False
    each = all(_by_this(check, by) and status in ("FAILED", of(check, "status")) for check, by in zip(checks, expected, strict=True))
    return each and any(map(itself, checks))


def _by_this(verification: Json, expectation: Json) -> bool:
    return of(verification, "field") == of(expectation, "field") and equal(at(verification, "expected"), at(expectation, "equals"))


def shown_as(shown: Json, expected: list[Json]) -> bool:
    """How an approval shows expectations: one as it is, several as an array."""
    return equal(shown, expected[0]) if len(expected) == 1 else items(shown) == expected
