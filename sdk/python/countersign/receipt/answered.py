"""What an answer means for its step, computed from its bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .answerjson import Unreadable, read_answer, says_error
from .canonical import Digits, Json
from .capability import capability, planned
from .claims import Claims, at, has, items, of, whole
from .failure import need
from .values import encoded, equal
from .verified import expectations


@dataclass(frozen=True)
class Meant:
    """What becomes of a step by an answer."""

    status: str
    code: str = ""
    output: Json = None
    verification: Json = None
    may_have: bool = False


def answer_means(c: Claims, step: Json, status: int, body: bytes, attempt: int) -> Meant | None:
    """None where the answer doesn't say what became of the request."""
    if 200 <= status < 300:
        return _success_means(c, step, status, body)
    if status < 400 or status >= 500 or status == 408:
        return None
    if status == 409 and (attempt > 1 or says_error(body, "in_progress", "in_doubt")):
        return None
    return Meant("FAILED", "withdrawn" if status == 410 and says_error(body, "key_withdrawn") else "receiver_refused")


def _success_means(c: Claims, step: Json, status: int, body: bytes) -> Meant | None:
    try:
        value = read_answer(body)
    except Unreadable:
        return None
    if status == 206:
        return None
    field, effect = of(capability(c, step), "outputField"), at(step, "sideEffect") is True
    found, output = (True, value) if field == "" else _lookup(value, field)
    if not found:
        return Meant("FAILED", "output_missing", may_have=effect)
    judged = [_judge(e, output, field, status) for e in expectations(c, step, planned(c, step))]
    failed = next((v for v in judged if v["status"] == "FAILED"), None)
    verification = dict(failed or (judged[-1] if judged else {"status": "NOT_REQUESTED"}))
    if len(judged) > 1:
        verification["checks"] = [{name: value for name, value in v.items() if name != "statusCode"} for v in judged]
    if failed is not None:
        return Meant("FAILED", "expectation_not_met", output, verification, effect)
    return Meant("COMPLETED", "", output, verification)


def _lookup(value: Json, field: str) -> tuple[bool, Json]:
    """Finds a field: an exact key first, else a dotted path whose digits index arrays."""
    while True:
        head, dot, rest = field.partition(".")
        if isinstance(value, dict) and field in value:
            return True, value[field]
        if isinstance(value, dict) and head in value:
            child = value[head]
        elif isinstance(value, list) and re.fullmatch("0|[1-9][0-9]{0,14}", head) and int(head) < len(value):
            child = value[int(head)]
        else:
            return False, None
        if dot == "":
            return True, child
        value, field = child, rest


def _judge(expectation: Json, output: Json, output_field: str, status: int) -> dict[str, Json]:
    field = of(expectation, "field")
    found, actual = _lookup(output, field)
    if not found and (field == "$" or (output_field != "" and field == output_field)):
        found, actual = True, output
    wanted = whole(at(expectation, "statusCode"))
    passed = found and equal(actual, at(expectation, "equals")) and wanted in (-1, 0, status)
    out = {"status": "PASSED" if passed else "FAILED", "field": field, "expected": at(expectation, "equals"), "statusCode": Digits(str(status))}
    return out | ({"actual": actual} if found else {})


def ended_by_answer(step: Json) -> bool:
    """Whether only an answer gives a step this status."""
    code = of(at(step, "error"), "code")
    return of(step, "status") == "COMPLETED" or code in ("receiver_refused", "output_missing", "expectation_not_met", "withdrawn")


def ended_by_person(step: Json) -> bool:
    """Whether a person's resolution ended a step, and no answer."""
    status, code, resolution = of(step, "status"), of(at(step, "error"), "code"), of(at(step, "reconciliation"), "resolution")
    if resolution == "CONFIRMED_NOT_EXECUTED":  # else it was sent again
        return (status == "CANCELLED" and code == "") or code == "not_executed"
    return resolution != "" and status in ("COMPLETED", "ABANDONED")


def as_answered(c: Claims, step: Json, body: bytes) -> None:
    """Compares a step with what its signed answer means, unless something else ended it."""
    if c.masked or at(step, "settledBy") is not None or ended_by_person(step):
        return
    meant = answer_means(c, step, whole(at(at(step, "response"), "statusCode")), body, whole(at(step, "attempt")))
    if meant is not None:
        return as_meant(c, step, meant)
    open_ended = at(step, "sideEffect") is not True and of(step, "status") == "FAILED" and not ended_by_answer(step)
    need(open_ended, "run", f"step {of(step, 'id')} ended by an answer that doesn't say what became of it")


def as_meant(c: Claims, step: Json, meant: Meant) -> None:
    name, may = f"step {of(step, 'id')}", meant.may_have
    if has(c.run, "restoredAt") and meant.status != "COMPLETED" and meant.code != "withdrawn":
        may = at(step, "sideEffect") is True  # the store that was replaced may have sent it, too
    cancelled = meant.status == "FAILED" and at(step, "settledBy") is not None and at(c.run, "cancelRequested") is True
    ends = of(step, "status") == ("CANCELLED" if cancelled else meant.status) and of(at(step, "error"), "code") == meant.code
    need(ends, "run", f"{name} has another status or error than its signed answer means")
    need(equal(at(step, "output"), meant.output), "run", f"{name} has another output than its signed answer")
    judged = encoded(at(step, "verification")) == encoded(meant.verification)
    need(judged, "run", f"{name} has another verification than its signed answer comes to")
    need((at(step, "mayHaveHappened") is True) == may, "run", f"{name} says otherwise than its signed answer whether it may have happened")


def statements(step: Json) -> list[Json]:
    """What the receiver said of a step's key."""
    return items(at(step, "settlements"))
