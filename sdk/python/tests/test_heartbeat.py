"""The rules of the heartbeat loop, by a clock of the test's own."""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from countersign import CountersignError
from countersign.heartbeat import Beating, beats, host_instance
from countersign.steps import run

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
MILLISECONDS = int(START.timestamp() * 1000)


class Sink:
    """Takes beats, answers each as told, and ends the loop after a time."""

    def __init__(self, answer: Callable[[Any, int], Any] = lambda beat, n: {}, *, until: float = 60, known: int = 0) -> None:
        self.beats: list[Any] = []
        self.pauses: list[float] = []
        self._answer = answer
        self._now = START
        self._end = START + timedelta(seconds=until)
        self._known = known

    def beat(self, agent_id: str, beat: Any) -> Any:
        self.beats.append(beat)
        return self._answer(beat, len(self.beats))

    def agent(self, agent_id: str) -> Any:
        return {"instances": [{"instanceId": "i-1", "sequence": self._known}, {"instanceId": "other", "sequence": self._known + 99}]}

    def pause(self, seconds: float) -> bool:
        self.pauses.append(seconds)
        self._now += timedelta(seconds=seconds)
        return self._now > self._end

    def now(self) -> datetime:
        return self._now


def beating(sink: Sink, *, jitter: float = 0, state: Callable[[], Any] = lambda: "BUSY", **callbacks: Any) -> None:
    run(beats(sink, Beating("a", "i-1", 30, jitter, state, callbacks.get("on_beat"), callbacks.get("on_error"))))


def conflict() -> CountersignError:
    return CountersignError("sequence_conflict", "used", status=409)


def test_beats_come_at_once_and_at_each_interval_with_a_sequence_above_any_earlier_one() -> None:
    sink = Sink()
    beating(sink)
    assert [beat["sequence"] for beat in sink.beats] == [MILLISECONDS, MILLISECONDS + 1, MILLISECONDS + 2]
    assert [beat["timestamp"] for beat in sink.beats] == ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:30.000Z", "2026-01-01T00:01:00.000Z"]
    assert {(beat["instanceId"], beat["state"]) for beat in sink.beats} == {("i-1", "BUSY")}


def test_no_two_intervals_need_be_the_same_and_none_is_more_than_the_jitter_away() -> None:
    sink = Sink(until=3600)
    beating(sink, jitter=0.1)
    assert min(sink.pauses) >= 27 and max(sink.pauses) <= 33 and len(set(sink.pauses)) > 1


def test_errors_go_to_the_callback_and_the_loop_goes_on_whatever_that_does() -> None:
    def away(beat: Any, n: int) -> Any:
        raise OSError("away")

    told: list[Exception] = []

    def on_error(error: Exception) -> None:
        told.append(error)
        raise error

    sink = Sink(away, until=90)
    beating(sink, on_error=on_error)
    assert len(told) == len(sink.beats) == 4


def test_a_state_that_cannot_be_told_or_a_callback_that_raises_does_not_end_the_loop() -> None:
    told: list[Exception] = []

    def broken(*_: Any) -> Any:
        raise OSError("broken")

    beating(Sink(), state=broken, on_error=told.append)
    beating(Sink(), on_beat=broken, on_error=told.append)
    assert len(told) == 6


def test_a_sequence_conflict_makes_it_go_above_what_the_service_has_heard() -> None:
    def used(beat: Any, n: int) -> Any:
        if n == 1:
            raise conflict()

    sink = Sink(used, until=30, known=1_900_000_000_000)
    beating(sink)
    assert [beat["sequence"] for beat in sink.beats] == [MILLISECONDS, 1_900_000_000_001]


def test_a_process_that_shares_its_name_is_told_to_take_one_of_its_own_and_its_loop_ends() -> None:
    def used(beat: Any, n: int) -> Any:
        if n > 2:
            raise conflict()

    told: list[Any] = []
    sink = Sink(used, until=3600)
    beating(sink, on_error=told.append)
    assert len(sink.beats) == 3
    assert told[0].code == "sequence_conflict" and "another process beats as instance i-1" in str(told[0])


def test_an_instance_without_a_name_has_its_machines_the_same_after_a_restart() -> None:
    assert host_instance() == host_instance(socket.gethostname())
    assert host_instance("büro 2.local") == "host-b-ro-2.local"
    assert len(host_instance("a" * 200)) == 105


@pytest.mark.parametrize(("interval", "jitter"), [(0, 0.1), (30, 1), (30, -0.1)])
def test_an_interval_or_jitter_out_of_bounds_is_refused(interval: float, jitter: float) -> None:
    with pytest.raises(ValueError):
        Beating("a", "i", interval, jitter, lambda: "IDLE", None, None)
