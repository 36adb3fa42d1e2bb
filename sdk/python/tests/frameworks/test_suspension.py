"""What an agent is suspended for, whatever its framework."""

from __future__ import annotations

from typing import Any

from countersign.adapters.suspension import is_of, once, once_only, suspension
from countersign.tools import ToolSpec
from frameworks.door import ARGUMENTS, PROPERTIES, SCHEMA

REFUND = ToolSpec("refund", "Refund", "Pays back.", SCHEMA, False)


def test_only_a_call_that_waits_for_a_person_suspends_its_agent() -> None:
    waits = suspension(REFUND, ARGUMENTS, {"outcome": "WAITING_FOR_A_PERSON", "runId": "run-1", "url": "https://c", "message": "m"})
    assert waits == {"runId": "run-1", "url": "https://c", "message": "m", "tool": "refund", "arguments": ARGUMENTS}
    assert suspension(REFUND, ARGUMENTS, {"outcome": "RUNNING", "runId": "run-1"}) is None
    assert suspension(REFUND, ARGUMENTS, {"outcome": "WAITING_FOR_A_PERSON", "runId": None}) is None


def test_a_call_is_resumed_by_its_own_suspension_alone() -> None:
    own: dict[str, Any] = {"runId": "run-1", "tool": "refund", "arguments": ARGUMENTS}
    assert is_of(own, REFUND, dict(ARGUMENTS))
    others: list[Any] = [None, "go on", {**own, "tool": "pay"}, {**own, "arguments": {}}, {**own, "runId": None}]
    for other in others:
        assert not is_of(other, REFUND, ARGUMENTS)


def test_a_call_that_is_made_anew_never_asks_again() -> None:
    assert "again" not in once(REFUND)["properties"] and "again" in PROPERTIES
    assert once_only(REFUND, {**ARGUMENTS, "again": "twice"}) == ARGUMENTS
    needed = ToolSpec("refund", "Refund", "", {**SCHEMA, "required": ["again"]}, False)
    assert once_only(needed, {"again": "x"}) == {"again": "x"} and once(needed) == needed.schema
    assert once_only(REFUND, None) is None
