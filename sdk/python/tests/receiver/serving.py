"""A shop behind the kit, on real sockets, for each kind of server."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIRequestHandler, make_server

import uvicorn
from support.signing import signed

from countersign.receiver import Answer, AsgiReceiver, Delivery, Gate, WsgiReceiver, json_answer, wsgi_app


@dataclass
class Shop:
    """Pays back and counts; `fail` raises before it answers."""

    gate: Gate
    effects: list[Any] = field(default_factory=list)

    def answer(self, delivery: Delivery) -> Answer:
        if delivery.call.method == "GET":
            self.effects.append("read")
            return json_answer(200, {"reads": len(self.effects)})
        asked = delivery.json()
        if asked.get("fail"):
            raise OSError("half-way")
        if asked.get("amount") == 0:
            return json_answer(422, {"error": "amount"})
        self.effects.append(asked)
        return json_answer(201, {"n": len(self.effects)})

    def function(self) -> Any:
        return wsgi_app(self.answer, self.gate)

    def wsgi(self) -> Any:
        def app(environ: Any, start_response: Any) -> list[bytes]:
            delivery = environ["countersign"]
            assert environ["wsgi.input"].read() == delivery.body
            answer = self.answer(delivery)
            wrong = [("Content-Length", "999")] if delivery.call.method == "POST" else []  # the kit counts
            write = start_response(f"{answer.status} Fine", [("Content-Type", answer.content_type), ("X-Own", "kept"), *wrong])
            write(answer.body[:3])
            return [answer.body[3:5], answer.body[5:]]

        return WsgiReceiver(app, self.gate)

    def asgi(self) -> Any:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            delivery = scope["countersign"]
            message = await receive()
            assert message["body"] == delivery.body
            answer = self.answer(delivery)
            headers = [(b"content-type", answer.content_type.encode()), (b"x-own", b"kept")]
            await send({"type": "http.response.start", "status": answer.status, "headers": headers})
            await send({"type": "http.response.body", "body": answer.body[:3], "more_body": True})
            await send({"type": "http.response.body", "body": answer.body[3:]})

        return AsgiReceiver(app, self.gate)


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def get_stderr(self) -> Any:
        return open("/dev/null", "w")  # noqa: SIM115


@contextmanager
def served_wsgi(app: Any) -> Iterator[str]:
    with make_server("127.0.0.1", 0, app, handler_class=_Quiet) as server:
        threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def served_asgi(app: Any) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()


SERVERS: dict[str, tuple[Callable[[Any], Any], Callable[[Shop], Any]]] = {
    "wsgi": (served_wsgi, Shop.wsgi),
    "function": (served_wsgi, Shop.function),
    "asgi": (served_asgi, Shop.asgi),
}


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def call(origin: str, method: str, target: str, body: bytes = b"", *, more: list[tuple[str, str]] | None = None, **signing: Any) -> Response:
    """Sends a signed request."""
    connection = http.client.HTTPConnection(urlsplit(origin).netloc)
    connection.putrequest(method, target)
    for name, value in [*signed(method, target, body, **signing).items(), ("Content-Length", str(len(body))), *(more or [])]:
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    found = Response(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    connection.close()
    return found
