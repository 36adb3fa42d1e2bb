"""The API for blocking callers."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from datetime import datetime
from typing import Any

from . import exactjson
from . import types as t
from .calls import Call
from .deadline import Patience
from .errors import CountersignConnectionError
from .events import Event, Events
from .heartbeat import Beating, State, beats, host_instance, utc_now
from .operations import Operations
from .options import settle
from .steps import run
from .tools import Door, Tool, Tools
from .transport import Transport
from .waiting import Until, waiting

FIRST = 10.0
"""Seconds: events begin with the present state, at once."""
QUIET = 40.0
"""Seconds: the service says something every 15 s."""


class Countersign(Operations):
    """The API of the service: a method for each operation of its OpenAPI document. `x(id)`
    reads one record, `xs(...)` lists them, `save_x` creates or updates one; the others
    have the operation's name. Refusals are CountersignError; CountersignConnectionError
    means that the outcome isn't known. A client may be used by several threads."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        prefix: str = "/api/runtime/v1",
        timeout: float = 30.0,
        retries: int = 2,
        max_answer_bytes: int = 8 << 20,
        allow_insecure: bool = False,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        settings = settle(
            base_url,
            token,
            prefix=prefix,
            timeout=timeout,
            retries=retries,
            max_answer_bytes=max_answer_bytes,
            allow_insecure=allow_insecure,
            ssl_context=ssl_context,
        )
        self._transport = Transport(settings)

    def wait_run(
        self, id: str, *, until: Until = "end", timeout: float | None = None, on_change: Callable[[t.ListedRun | t.Run], None] | None = None
    ) -> t.Run:
        """Waits until a run has ended, or stands still for a person. on_change is told each
        state that is seen, none twice. Raises TimeoutError after `timeout` seconds; the
        run goes on."""
        ended: t.Run = run(waiting(_Waiting(self, id, timeout), until, on_change))
        return ended

    def tools(self, agent_id: str, *, rehearsal: bool = False) -> Tools[Tool]:
        """The agent's capabilities as tools, and run_status: a list, where each is found by
        its capability's name too; `rehearsal`: those whose calls send nothing. The token is
        best an agent token."""
        door = Door(agent_id, rehearsal)
        return Tools(Tool(spec, self._send, door) for spec in run(door.listed(self._send)))

    def start_heartbeat(
        self,
        agent_id: str,
        *,
        instance_id: str | None = None,
        interval: float = 30.0,
        jitter: float = 0.1,
        state: Callable[[], State] = lambda: "IDLE",
        on_beat: Callable[[t.HeartbeatAck], None] | None = None,
        on_error: Callable[[Exception], None] | None = None,
    ) -> HeartbeatLoop:
        """Says at each interval that an instance of an agent lives, until `stop()`, in a
        thread that keeps no process alive. `instance_id` is of this process, the same
        after a restart; default this machine's name. Two processes at a time need one
        each. on_error is told each beat that failed; the loop goes on."""
        how = Beating(agent_id, instance_id or host_instance(), interval, jitter, state, on_beat, on_error)
        return HeartbeatLoop(self, how)

    def _send(self, call: Call) -> Any:
        return self._transport.send(call)

    def _bytes(self, call: Call) -> bytes:
        return self._transport.raw(call)

    def _stream(self, call: Call) -> Iterator[bytes]:
        return self._transport.stream(call, Patience(first=FIRST, quiet=QUIET))

    def _events(self, call: Call, *, most: float | None = None) -> Generator[Any, None, None]:
        reader = Events()
        with closing(self._transport.stream(call, Patience(first=FIRST, quiet=QUIET, whole=most))) as parts:
            for part in parts:
                for event in reader.feed(part):
                    if event.event == "run":
                        yield read_event(event)

    def _desk(self, call: Call) -> Generator[Any, None, None]:
        reader = Events()
        with closing(self._transport.stream(call, Patience(first=FIRST, quiet=QUIET))) as parts:
            for part in parts:
                for event in reader.feed(part):
                    if event.event in ("waiting", "changed"):
                        yield {event.event: read_event(event)}


class HeartbeatLoop:
    """A loop that runs until `stop`; also as a context."""

    def __init__(self, client: Countersign, how: Beating) -> None:
        self.instance_id = how.instance_id
        self._client = client
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=lambda: run(beats(self, how)), name="countersign-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the loop. A beat under way is waited for."""
        self._stopped.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def __enter__(self) -> HeartbeatLoop:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def beat(self, agent_id: str, beat: t.Heartbeat) -> t.HeartbeatAck:
        return self._client.heartbeat(agent_id, beat)

    def agent(self, agent_id: str) -> t.AgentWithInstances:
        return self._client.agent(agent_id)

    def pause(self, seconds: float) -> bool:
        return self._stopped.wait(seconds)

    def now(self) -> datetime:
        return utc_now()


class _Waiting:
    """What waiting reads from, within its time."""

    def __init__(self, client: Countersign, id: str, timeout: float | None) -> None:
        self._client = client
        self._id = id
        self._end = None if timeout is None else time.monotonic() + timeout

    def read(self) -> Any:
        return self._client.run(self._id)

    def follow(self, last_event_id: str | None, settles: Callable[[Any], bool]) -> None:
        with closing(self._client._events(events_of(self._id, last_event_id), most=self._left())) as events:
            for event in events:
                if settles(event):
                    return

    def sleep(self, seconds: float) -> None:
        left = self._left()
        time.sleep(seconds if left is None else min(seconds, left))

    def _left(self) -> float | None:
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the run has not come so far in time; it goes on")
        return left


def events_of(run_id: str, last_event_id: str | None) -> Call:
    headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
    return Call("GET", ("runs", run_id, "events"), headers=headers, accept="text/event-stream")


def read_event(event: Event) -> Any:
    """The value of an event. One that can't be read is as good as a broken connection."""
    try:
        return exactjson.decode(event.data)
    except ValueError:
        raise CountersignConnectionError("an event is no JSON") from None
