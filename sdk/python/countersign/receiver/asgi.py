"""The receiver kit for ASGI: FastAPI, Starlette, Django, and every other framework of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

from ..steps import arun
from .answer import MAX_BYTES, Answer, Reply
from .answersigning import ANSWER
from .gate import Gate, has_effect, too_large
from .remember import Delivery, remembered
from .signature import Call

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

KEY = "countersign"
"""Where a request's scope has its Delivery."""


class AsgiReceiver:
    """Stands before an application and lets only genuine calls through to it, and each side
    effect once: 413 for a body over 1 MiB, 401 with the reason for what isn't signed, 409
    as countersign.receiver.remember says. The application finds the raw body as it came,
    and the call's Delivery in `scope["countersign"]`. A side effect's response is held
    back until it is remembered; anything that changes responses, such as compression,
    goes around this. Who hangs up doesn't stop an effect half-way. Websockets are refused:
    nothing in them is signed. A store's work is done in threads: connections must allow
    for that (sqlite3: check_same_thread=False)."""

    def __init__(self, app: App, gate: Gate) -> None:
        self._app = app
        self._gate = gate
        self._effects: set[asyncio.Task[Any]] = set()  # a loop holds its tasks weakly

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            await receive()
            return await send({"type": "websocket.close", "code": 1008})
        body = await _body(receive)
        if body is None:
            return await _give(too_large(), send)
        admitted = self._gate.admit(scope["method"], _target(scope), _headers(scope), body)
        if isinstance(admitted, Reply):
            return await _give(admitted, send)
        aside = await self._aside(admitted, body)
        if aside is not None:
            return await _give(aside, send)
        if self._gate.signs(admitted.method):
            reading = _Recorder()
            await self._app({**scope, KEY: Delivery(admitted, body)}, _replayed(body, receive), reading.take)
            return await self._answered(self._gate.read(reading.ended()), reading, admitted, body, send)
        if not has_effect(admitted.method):
            return await self._app({**scope, KEY: Delivery(admitted, body)}, _replayed(body, receive), send)
        recorder = _Recorder()
        task = asyncio.get_running_loop().create_task(self._once(recorder, scope, admitted, body))
        self._effects.add(task)
        task.add_done_callback(self._effects.discard)
        reply = await asyncio.shield(task)
        await self._answered(reply, recorder, admitted, body, send)

    async def _answered(self, reply: Reply, recorder: _Recorder, call: Call, body: bytes, send: Send) -> None:
        if reply.answer is recorder.answer:
            return await recorder.send(send, self._gate.signature(call, body, reply))  # with all the headers that were set
        await _give(self._gate.signed(call, body, reply), send)

    async def _aside(self, call: Call, body: bytes) -> Reply | None:
        thread = ThreadPoolExecutor(1, thread_name_prefix="countersign-store")
        loop = asyncio.get_running_loop()
        try:
            return await arun(self._gate.aside(call, body, lambda work, *args: loop.run_in_executor(thread, work, *args)))
        finally:
            thread.shutdown(wait=False)

    async def _once(self, recorder: _Recorder, scope: Scope, call: Call, body: bytes) -> Reply:
        async def handle(delivery: Delivery) -> Answer:
            await self._app({**scope, KEY: delivery}, _replayed(body, _never), recorder.take)
            return recorder.ended()

        # One thread to a call: a twin that waits in its transaction holds up nobody else.
        thread = ThreadPoolExecutor(1, thread_name_prefix="countersign-store")
        loop = asyncio.get_running_loop()
        try:
            course = remembered(self._gate.remembering, call, body, handle, lambda work, *args: loop.run_in_executor(thread, work, *args))
            return await arun(course)
        finally:
            thread.shutdown(wait=False)


class _Recorder:
    """Takes a response in, so that it can be remembered first."""

    def __init__(self) -> None:
        self.answer: Answer | None = None
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._body = bytearray()
        self._complete = False

    async def take(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", [])]
        elif message["type"] == "http.response.body":
            if len(self._body) <= MAX_BYTES:  # what is beyond won't be remembered, so it isn't given
                self._body += message.get("body", b"")
            self._complete = not message.get("more_body", False)

    def ended(self) -> Answer:
        if not self._status or not self._complete:
            raise RuntimeError("the application ended without a whole answer")
        kind = next((value.decode("latin-1") for name, value in self._headers if name.lower() == b"content-type"), "")
        self.answer = Answer(self._status, kind, bytes(self._body))
        return self.answer

    async def send(self, send: Send, signature: str) -> None:
        others = [(name, value) for name, value in self._headers if name.lower() not in (b"content-length", ANSWER.lower().encode())]
        others += [(ANSWER.lower().encode(), signature.encode())] if signature else []
        await _respond(send, self._status, others, bytes(self._body))


async def _give(reply: Reply, send: Send) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in reply.headers.items()]
    if reply.answer.content_type:
        headers.append((b"content-type", reply.answer.content_type.encode("latin-1")))
    await _respond(send, reply.answer.status, headers, reply.answer.body)


async def _respond(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    length = [] if status in (204, 304) else [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers + length})
    await send({"type": "http.response.body", "body": body})


async def _body(receive: Receive) -> bytes | None:
    """The raw body; None where it is too long."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(body)  # who has gone gets no answer, and what is cut off isn't signed
        body += message.get("body", b"")
        if len(body) > MAX_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replayed(body: bytes, then: Receive) -> Receive:
    given = False

    async def receive() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            return await then()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _never() -> MutableMapping[str, Any]:
    """An effect is not told that its caller has gone."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError("unreachable")


def _target(scope: Scope) -> str:
    """Path and query as they came. A server that doesn't tell the path has decoded it: it is
    escaped again as Countersign does; a call that was escaped otherwise is refused."""
    raw = scope.get("raw_path")
    path = raw.partition(b"?")[0] if raw else quote(scope["path"], safe="/$&+:=@~").encode()
    query = scope.get("query_string", b"")
    return _text(path + b"?" + query if query else path)


def _headers(scope: Scope) -> list[tuple[str, str]]:
    return [(_text(name), _text(value)) for name, value in scope["headers"]]


def _text(raw: bytes) -> str:
    return bytes(raw).decode("utf-8", "surrogateescape")
