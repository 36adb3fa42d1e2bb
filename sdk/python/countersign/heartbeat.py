"""Saying at each interval that an instance of an agent lives."""

from __future__ import annotations

import random
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, Protocol

from . import types as t
from .errors import CountersignError
from .steps import Course

State = Literal["IDLE", "BUSY", "ERROR"]


@dataclass(frozen=True)
class Beating:
    """How a loop beats."""

    agent_id: str
    instance_id: str
    interval: float
    jitter: float
    state: Callable[[], State]
    on_beat: Callable[[t.HeartbeatAck], None] | None
    on_error: Callable[[Exception], None] | None

    def __post_init__(self) -> None:
        if not self.interval > 0 or not 0 <= self.jitter < 1:
            raise ValueError("interval must be above 0, jitter from 0 to below 1")


class Sink(Protocol):
    """Where beats go. What it gives is awaited for asyncio."""

    def beat(self, agent_id: str, beat: t.Heartbeat) -> Any: ...

    def agent(self, agent_id: str) -> Any: ...

    def pause(self, seconds: float) -> Any:
        """Waits; true: the loop is to end."""

    def now(self) -> datetime: ...


def host_instance(name: str | None = None) -> str:
    """An instance's name by its machine, which recurs where the process starts again: the
    service keeps each name that it has heard."""
    return "host-" + re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname() if name is None else name)[:100]


def beats(sink: Sink, how: Beating) -> Course[None]:
    """Beats at once, and then at each interval. A beat starts only when the one before it
    is answered. The sequence starts at the clock's milliseconds: a process that restarts
    under the same instance id goes on above what it used before. Two processes under one
    id can't go on: one of them is told so by on_error, with the code sequence_conflict,
    and its loop ends."""
    sequence = _milliseconds(sink.now())
    settled = False  # the sequence is above all that this instance used before
    while True:
        ended = False
        try:
            now = sink.now()
            beat: t.Heartbeat = {
                "instanceId": how.instance_id,
                "sequence": sequence,
                "state": how.state(),
                "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
            sequence += 1
            try:
                ack = yield lambda: sink.beat(how.agent_id, beat)
                settled = True
                if how.on_beat is not None:
                    how.on_beat(ack)
            except CountersignError as error:
                if error.code != "sequence_conflict":
                    raise
                if settled:
                    ended = True
                    raise _shared(error, how) from None
                agent = yield lambda: sink.agent(how.agent_id)
                sequence = max(sequence, _milliseconds(sink.now()), _known(agent, how.instance_id) + 1)
                settled = True
                raise
        except Exception as error:
            _tell(how.on_error, error)
        if ended or (yield lambda: sink.pause(how.interval * (1 + how.jitter * (2 * random.random() - 1)))):
            return


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def _known(agent: Any, instance_id: str) -> int:
    """The last sequence that the service has heard of an instance."""
    return max((instance["sequence"] for instance in agent["instances"] if instance["instanceId"] == instance_id), default=0)


def _shared(error: CountersignError, how: Beating) -> CountersignError:
    message = f"another process beats as instance {how.instance_id} of agent {how.agent_id}; give each process an instance_id of its own"
    return CountersignError(error.code, message, status=error.status, request_id=error.request_id)


def _tell(on_error: Callable[[Exception], None] | None, error: Exception) -> None:
    """Lets nothing end the loop, a callback that raises included."""
    try:
        if on_error is not None:
            on_error(error)
    except Exception:
        pass  # whoever listens is on their own
