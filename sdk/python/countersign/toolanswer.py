"""What a call of a tool comes to."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Outcome = Literal["REHEARSED", "WAITING_FOR_A_PERSON", "RUNNING", "HELD", "DONE", "REFUSED", "NOT_AS_EXPECTED", "UNKNOWN", "STOPPED"]
"""In one word what became of a call; a newer service may have more."""


class ToolAnswer(TypedDict, total=False):
    """For the model to read. A call that came to no run has `error`, a code, and no `steps`."""

    outcome: Outcome
    message: str
    """What the outcome means, and what to do."""
    url: str | None
    """Where a person acts."""
    runId: str | None
    startedAt: str | None
    endedAt: str
    replayed: bool
    """An earlier call made the run."""
    error: str
    status: str
    mode: str
    waitingFor: dict[str, Any]
    steps: list[dict[str, Any]]
    suggestedInput: dict[str, Any]
    """What a reviewer who rejected it would approve."""
    mayHaveHappened: bool
    retryAfter: int
    requestId: str
