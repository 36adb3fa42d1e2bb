"""What judged a step's answer is what the plan and its capability expect."""

from __future__ import annotations

from .canonical import Json
from .capability import capability
from .claims import Claims, at, items, of
from .failure import need
from .values import equal


def expectations(c: Claims, step: Json, planned: Json) -> list[Json]:
    """Those that judge the answer to a step: its capability's, and besides it the plan's own of the step."""
    found = (at(capability(c, step), "expectation"), at(planned, "expectation"))
    return [expectation for expectation in found if expectation is not None]


def as_verified(step: Json, expected: list[Json]) -> None:
    """Compares what judged the output with the expectations, and the judgement with the status."""
    name, status = f"step {of(step, 'id')}", of(step, "status")
    verification = at(step, "verification")
    judged = of(verification, "status")
    passed = "PASSED" if expected else "NOT_REQUESTED"
    wanted = {"COMPLETED": passed, "SIMULATED": "SIMULATED"}.get(status, judged)
    need(judged == wanted, "run", f"{name} is {status} and was not verified so")
    if verification is None:
        return
    need(_judged_by(verification, expected), "run", f"{name} was verified by another expectation than in the plan")
    for check in (*items(at(verification, "checks")), verification):
        met = equal(at(check, "actual"), at(check, "expected"))
        need(of(check, "status") != "PASSED" or met, "run", f"{name} was verified as passed, and is not what was expected")


def _judged_by(verification: Json, expected: list[Json]) -> bool:
    """A verification names the expectation that it judged by. Where there are several, its
    checks name each, and what it says itself is the judgement of one."""
    checks = items(at(verification, "checks"))
    if len(expected) < 2:
        return not checks and _by_this(verification, expected[0] if expected else None)
    status = of(verification, "status")

    def itself(check: Json) -> bool:
        same = of(check, "status") == status and of(check, "field") == of(verification, "field")
        return same and all(equal(at(check, name), at(verification, name)) for name in ("expected", "actual"))

    def each(check: Json, expectation: Json) -> bool:
        return _by_this(check, expectation) and (status == "FAILED" or of(check, "status") == status)

    return len(checks) == len(expected) and all(map(each, checks, expected)) and any(map(itself, checks))


def _by_this(verification: Json, expectation: Json) -> bool:
    return of(verification, "field") == of(expectation, "field") and equal(at(verification, "expected"), at(expectation, "equals"))


def shown_as(approval: Json, expected: list[Json]) -> bool:
    """How an approval shows expectations: one as it is, several as an array."""
    return equal(approval, expected[0] if len(expected) == 1 else expected)
