"""Waiting until a run has ended, or stands still for a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

from .errors import CountersignConnectionError, CountersignError, is_temporary
from .steps import Course

Until = Literal["end", "standstill"]
"""end: COMPLETED, FAILED or CANCELLED. standstill: also where the run waits for a person,
who approves or reconciles, or for the stop of its tenant to be lifted."""

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0


class Source(Protocol):
    """Where waiting reads from. What it gives is awaited for asyncio."""

    def read(self) -> Any:
        """The run."""

    def follow(self, last_event_id: str | None, settles: Callable[[Any], bool]) -> Any:
        """Follows one connection's events until one settles the waiting."""

    def sleep(self, seconds: float) -> Any: ...


def is_settled(run: Any, until: Until) -> bool:
    """A run that has ended, or that nothing moves but a person."""
    if run["status"] in ("COMPLETED", "FAILED", "CANCELLED"):
        return True
    if until == "end":
        return False
    kind = (run.get("waitingFor") or {}).get("kind")
    if kind == "stop":
        return True
    return run["status"] in ("WAITING_APPROVAL", "RECOVERY_REQUIRED") and kind != "slot"  # decided: it goes on by itself


def waiting(source: Source, until: Until, on_change: Callable[[Any], None] | None) -> Course[Any]:
    """Follows a run's events and reads it when they end. Where events don't come through
    (a proxy that cuts them, a restart of the service) it asks for the run instead, ever
    more slowly, and tries them again in between."""
    seen = _Seen(until, on_change)
    while True:
        try:
            yield lambda: source.follow(seen.last_event_id, seen.settles)
        except (CountersignError, CountersignConnectionError) as error:
            if not is_temporary(error):
                raise
        try:
            run = yield source.read
            if seen.settles(run):
                return run
        except (CountersignError, CountersignConnectionError) as error:
            if not is_temporary(error):
                raise
        pause = seen.pause()
        yield lambda: source.sleep(pause)


class _Seen:
    """What is known of the run so far."""

    def __init__(self, until: Until, on_change: Callable[[Any], None] | None) -> None:
        self._until = until
        self._on_change = on_change
        self._revision = 0
        self._pause = _FIRST_PAUSE

    @property
    def last_event_id(self) -> str | None:
        """An event's id is the run's revision."""
        return str(self._revision) if self._revision > 0 else None

    def settles(self, run: Any) -> bool:
        if run["revision"] > self._revision:
            self._revision = run["revision"]
            self._pause = _FIRST_PAUSE
            if self._on_change is not None:
                self._on_change(run)
        return is_settled(run, self._until)

    def pause(self) -> float:
        pause = self._pause
        self._pause = min(2 * pause, _LONGEST_PAUSE)
        return pause
