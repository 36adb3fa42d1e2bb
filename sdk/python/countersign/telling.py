"""A call of a tool whose answer is for a model, whatever goes wrong, and that waits for a
person as long as it is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from .calls import Call
from .steps import Course
from .told import told

STATUS = "run_status"
_LONGEST_WAIT = 50
"""Seconds that the service takes."""
_LEAST_PAUSE = 1.0
_GOES_ON = ("WAITING_FOR_A_PERSON", "RUNNING", "HELD")


class Door(Protocol):
    @property
    def rehearsal(self) -> bool: ...

    def call(self, name: str, arguments: Any) -> Call: ...


def telling(
    door: Door,
    name: str,
    arguments: Any,
    *,
    harmless: bool,
    wait: float,
    send: Callable[[Call], Any],
    sleep: Callable[[float], Any],
    read: Callable[[Any], dict[str, Any]],
    clock: Callable[[], float] = time.monotonic,
) -> Course[dict[str, Any]]:
    """The answer of a call, in the end of which it waits at most `wait` seconds for a person."""
    end = clock() + wait
    answer = yield from _told(door, name, arguments, harmless or door.rehearsal, send, read)
    while answer["outcome"] in _GOES_ON and answer["runId"]:
        left = min(int(end - clock()), _LONGEST_WAIT)
        if left < 1:
            break
        asked = clock()
        now = yield from _told(door, STATUS, {"runId": answer["runId"], "waitSeconds": left}, True, send, read)
        if now["outcome"] != "UNKNOWN" or now.get("error") not in ("no_answer", "internal"):
            answer = now
        if clock() - asked < _LEAST_PAUSE and answer["outcome"] in _GOES_ON:
            yield lambda: sleep(_LEAST_PAUSE)  # of many waits at once the service answers some without waiting
    return answer


def _told(
    door: Door, name: str, arguments: Any, harmless: bool, send: Callable[[Call], Any], read: Callable[[Any], dict[str, Any]]
) -> Course[dict[str, Any]]:
    again = False
    try:
        call = door.call(name, arguments)
        again = "again" in call.body["params"]["arguments"]
        answer = read((yield lambda: send(call)))
    except Exception as error:
        known = told(error, harmless=harmless, again=again)
        if known is None:
            raise
        return known
    return {"outcome": None, "runId": None, **answer}
