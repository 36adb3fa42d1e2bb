"""The API for asyncio."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from datetime import datetime
from typing import Any

from . import types as t
from .aiotransport import AsyncTransport
from .calls import Call
from .client import FIRST, QUIET, events_of, read_event
from .deadline import Patience
from .events import Events
from .heartbeat import Beating, State, beats, host_instance, utc_now
from .operations import AsyncOperations
from .options import settle
from .steps import arun
from .tools import AsyncTool, Door, Tools
from .waiting import Until, waiting


class AsyncCountersign(AsyncOperations):
    """The API of the service for asyncio: the methods of Countersign, awaited. Cancelling
    a task ends its request; whether the service carried it out is not known then."""

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
        self._transport = AsyncTransport(settings)

    async def wait_run(
        self, id: str, *, until: Until = "end", timeout: float | None = None, on_change: Callable[[t.ListedRun | t.Run], None] | None = None
    ) -> t.Run:
        """Waits until a run has ended, or stands still for a person. on_change is told each
        state that is seen, none twice. Raises TimeoutError after `timeout` seconds; the
        run goes on."""
        try:
            ended: t.Run = await asyncio.wait_for(arun(waiting(_Waiting(self, id), until, on_change)), timeout)
        except asyncio.TimeoutError:
            raise TimeoutError("the run has not come so far in time; it goes on") from None
        return ended

    async def tools(self, agent_id: str, *, rehearsal: bool = False) -> Tools[AsyncTool]:
        """The agent's capabilities as tools, and run_status: a list, where each is found by
        its capability's name too; `rehearsal`: those whose calls send nothing. The token is
        best an agent token."""
        door = Door(agent_id, rehearsal)
        return Tools([AsyncTool(spec, self._send, door) for spec in await arun(door.listed(self._send))])

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
    ) -> AsyncHeartbeatLoop:
        """Says at each interval that an instance of an agent lives, until `stop()`, in a
        task of the running loop; see Countersign.start_heartbeat."""
        how = Beating(agent_id, instance_id or host_instance(), interval, jitter, state, on_beat, on_error)
        return AsyncHeartbeatLoop(self, how)

    async def _send(self, call: Call) -> Any:
        return await self._transport.send(call)

    async def _bytes(self, call: Call) -> bytes:
        return await self._transport.raw(call)

    def _stream(self, call: Call) -> AsyncIterator[bytes]:
        return self._transport.stream(call, Patience(first=FIRST, quiet=QUIET))

    async def _events(self, call: Call) -> AsyncGenerator[Any, None]:
        reader = Events()
        async with aclosing(self._transport.stream(call, Patience(first=FIRST, quiet=QUIET))) as parts:
            async for part in parts:
                for event in reader.feed(part):
                    if event.event == "run":
                        yield read_event(event)

    async def _desk(self, call: Call) -> AsyncGenerator[Any, None]:
        reader = Events()
        async with aclosing(self._transport.stream(call, Patience(first=FIRST, quiet=QUIET))) as parts:
            async for part in parts:
                for event in reader.feed(part):
                    if event.event in ("waiting", "changed"):
                        yield {event.event: read_event(event)}


class AsyncHeartbeatLoop:
    """A loop that runs until `await stop()`, which ends a beat under way as well; also as a context."""

    def __init__(self, client: AsyncCountersign, how: Beating) -> None:
        self.instance_id = how.instance_id
        self._client = client
        self._task = asyncio.get_running_loop().create_task(arun(beats(self, how)))

    async def stop(self) -> None:
        if self._task is asyncio.current_task():
            raise RuntimeError("a callback can't wait for the loop that calls it; use a task")
        self._task.cancel()
        await asyncio.wait([self._task])

    async def __aenter__(self) -> AsyncHeartbeatLoop:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def beat(self, agent_id: str, beat: t.Heartbeat) -> t.HeartbeatAck:
        return await self._client.heartbeat(agent_id, beat)

    async def agent(self, agent_id: str) -> t.AgentWithInstances:
        return await self._client.agent(agent_id)

    async def pause(self, seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return False

    def now(self) -> datetime:
        return utc_now()


class _Waiting:
    """What waiting reads from."""

    def __init__(self, client: AsyncCountersign, id: str) -> None:
        self._client = client
        self._id = id

    async def read(self) -> Any:
        return await self._client.run(self._id)

    async def follow(self, last_event_id: str | None, settles: Callable[[Any], bool]) -> None:
        async with aclosing(self._client._events(events_of(self._id, last_event_id))) as events:
            async for event in events:
                if settles(event):
                    return

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
