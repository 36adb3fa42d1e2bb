"""The receiver kit for WSGI: Flask, and every other framework of it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from ..steps import run
from .answer import MAX_BYTES, Answer, Reply
from .answersigning import ANSWER
from .gate import Gate, has_effect, too_large
from .remember import Delivery, remembered

Environ = dict[str, Any]
App = Callable[[Environ, Any], Iterable[bytes]]

KEY = "countersign"
"""Where a request's environment has its Delivery."""


class WsgiReceiver:
    """Stands before an application and lets only genuine calls through to it, and each side
    effect once: 413 for a body over 1 MiB, 401 with the reason for what isn't signed, 409
    as countersign.receiver.remember says. The application finds the raw body as it came,
    and the call's Delivery in `environ["countersign"]`. A side effect's response is held
    back until it is remembered; anything that changes responses, such as compression,
    goes around this."""

    def __init__(self, app: App, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        body = _body(environ)
        if body is None:
            return _give(too_large(), start_response)
        admitted = self._gate.admit(environ["REQUEST_METHOD"], target_of(environ), header_pairs(environ), body)
        if isinstance(admitted, Reply):
            return _give(admitted, start_response)
        aside = run(self._gate.aside(admitted, body, _do))
        if aside is not None:
            return _give(aside, start_response)
        environ["wsgi.input"] = io.BytesIO(body)
        environ["CONTENT_LENGTH"] = str(len(body))
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        environ[KEY] = Delivery(admitted, body)
        effect = has_effect(admitted.method)
        if not effect and not self._gate.signs(admitted.method):
            return self._app(environ, start_response)
        recorder = _Recorder()

        def handle(delivery: Delivery) -> Answer:
            environ[KEY] = delivery
            return recorder.record(self._app, environ)

        if effect:
            reply = run(remembered(self._gate.remembering, admitted, body, handle, _do))
        else:
            reply = self._gate.read(recorder.record(self._app, environ))
        if reply.answer is recorder.answer:
            start_response(recorder.status, recorder.headers(self._gate.signature(admitted, body, reply)))  # with all that were set
            return [reply.answer.body]
        return _give(self._gate.signed(admitted, body, reply), start_response)


def _do(work: Callable[..., Any], *args: Any) -> Any:
    return work(*args)


def wsgi_app(handle: Callable[[Delivery], Answer], gate: Gate) -> App:
    """An application of one function, which answers each verified call."""

    def app(environ: Environ, start_response: Any) -> Iterable[bytes]:
        return _give(Reply(handle(environ[KEY])), start_response)

    return WsgiReceiver(app, gate)


class _Recorder:
    """Takes a response in, so that it can be remembered first."""

    def __init__(self) -> None:
        self.status = ""
        self.answer: Answer | None = None
        self._headers: list[tuple[str, str]] = []
        self._body = bytearray()

    def record(self, app: App, environ: Environ) -> Answer:
        parts = app(environ, self._start)
        try:
            for part in parts:
                self._write(part)
        finally:
            if hasattr(parts, "close"):
                parts.close()
        if not self.status:
            raise RuntimeError("the application ended without an answer")
        kind = next((value for name, value in self._headers if name.lower() == "content-type"), "")
        self.answer = Answer(int(self.status[:3]), kind, bytes(self._body))
        return self.answer

    def headers(self, signature: str) -> list[tuple[str, str]]:
        """Those of the response, signed; its length is counted."""
        others = [(name, value) for name, value in self._headers if name.lower() not in ("content-length", ANSWER.lower())]
        others += [(ANSWER, signature)] if signature else []
        return others + _length(int(self.status[:3]), bytes(self._body))

    def _start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], object]:
        self.status, self._headers = status, list(headers)
        return self._write

    def _write(self, part: bytes) -> None:
        """What is beyond the bound is left out: it won't be remembered, so it isn't given."""
        if len(self._body) <= MAX_BYTES:
            self._body += part


def _give(reply: Reply, start_response: Any) -> list[bytes]:
    answer = reply.answer
    headers = [(name, value) for name, value in reply.headers.items() if name != "Connection"]  # a server's own
    headers += [("Content-Type", answer.content_type)] if answer.content_type else []
    start_response(f"{answer.status} {_phrase(answer.status)}", headers + _length(answer.status, answer.body))
    return [answer.body]


def _length(status: int, body: bytes) -> list[tuple[str, str]]:
    return [] if status in (204, 304) else [("Content-Length", str(len(body)))]


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Answer"


def _body(environ: Environ) -> bytes | None:
    """The raw body; None where it is too long."""
    source, length = environ["wsgi.input"], str(environ.get("CONTENT_LENGTH") or "")
    if length.isdecimal():
        most = int(length)
        return None if most > MAX_BYTES else _read(source, most)
    if not environ.get("wsgi.input_terminated"):
        return b""
    body = _read(source, MAX_BYTES + 1)
    return None if len(body) > MAX_BYTES else body


def _read(source: Any, most: int) -> bytes:
    body = bytearray()
    while len(body) < most:
        part = source.read(most - len(body))
        if not part:
            break
        body += part
    return bytes(body)


def target_of(environ: Environ) -> str:
    """Path and query as they came. A server that doesn't tell them has decoded the path: it
    is escaped again as Countersign does; a call that was escaped otherwise is refused."""
    for name in ("REQUEST_URI", "RAW_URI"):
        if raw := environ.get(name):
            return _raw(raw)
    path = _raw(environ.get("SCRIPT_NAME", "")) + _raw(environ.get("PATH_INFO", ""))
    query = _raw(environ.get("QUERY_STRING", ""))
    escaped = quote(path.encode("utf-8", "surrogateescape"), safe="/$&+:=@~")
    return f"{escaped}?{query}" if query else escaped


def header_pairs(environ: Environ) -> list[tuple[str, str]]:
    return [(name[5:].replace("_", "-"), _raw(value)) for name, value in environ.items() if name.startswith("HTTP_")]


def _raw(text: str) -> str:
    """WSGI gives bytes as the characters of the same numbers."""
    return text.encode("latin-1", "replace").decode("utf-8", "surrogateescape")
