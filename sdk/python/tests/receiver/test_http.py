"""The kit over real sockets."""

from __future__ import annotations

import asyncio
import http.client
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.signing import SECRET, signed

from countersign.receiver import AsgiReceiver, Gate, MemoryStore, WsgiReceiver

from .serving import SERVERS, Shop, call, served_asgi, served_wsgi

REFUND = ("POST", "/refunds?note=a%20b")


@pytest.fixture
def shop() -> Shop:
    return Shop(Gate(secrets=["the-secret-before", SECRET], store=MemoryStore()))


@pytest.fixture(params=sorted(SERVERS))
def origin(request: pytest.FixtureRequest, shop: Shop) -> Iterator[str]:
    serve, app = SERVERS[request.param]
    with serve(app(shop)) as url:
        yield url


def test_a_signed_call_is_answered_and_its_repeat_gets_the_same(origin: str, shop: Shop) -> None:
    first = call(origin, *REFUND, b'{"amount":1}')
    again = call(origin, *REFUND, b'{"amount":1}')
    assert (first.status, first.json()) == (201, {"n": 1})
    assert (again.status, again.body, again.headers["content-type"]) == (201, first.body, first.headers["content-type"])
    assert (first.headers.get("idempotency-replayed"), again.headers["idempotency-replayed"]) == (None, "true")
    assert shop.effects == [{"amount": 1}]


def test_another_body_under_the_key_is_409(origin: str, shop: Shop) -> None:
    call(origin, *REFUND, b'{"amount":1}')
    other = call(origin, *REFUND, b'{"amount":2}')
    assert (other.status, other.json()["error"]) == (409, "idempotency_conflict")
    assert len(shop.effects) == 1


@pytest.mark.parametrize(("reason", "wrong"), [("signature", {"secret": "another"}), ("timestamp", {"at": 1767225600})])
def test_what_is_not_signed_just_now_is_401_and_reaches_nobody(origin: str, shop: Shop, reason: str, wrong: Any) -> None:
    reply = call(origin, *REFUND, b"{}", **wrong)
    assert (reply.status, reply.json()["error"]) == (401, reason)
    assert shop.effects == []


def test_a_repeated_runtime_header_is_refused(origin: str, shop: Shop) -> None:
    assert call(origin, "GET", "/", more=[("idempotency-key", "run-1.refund")]).status == 401
    assert shop.effects == []


def test_reads_are_verified_and_not_remembered(origin: str) -> None:
    assert [call(origin, "GET", "/refunds").json() for _ in range(2)] == [{"reads": 1}, {"reads": 2}]
    assert call(origin, "GET", "/refunds", secret="another").status == 401


def test_a_4xx_frees_the_key_and_an_exception_is_500_and_leaves_it_in_doubt(origin: str, shop: Shop) -> None:
    assert call(origin, *REFUND, b'{"amount":0}').status == 422
    assert call(origin, *REFUND, b'{"amount":3}').status == 201
    thrown = call(origin, *REFUND, b'{"fail":true}', key="f")
    assert thrown.status == 500 and b"half-way" not in thrown.body
    again = call(origin, *REFUND, b'{"fail":true}', key="f")
    assert (again.status, again.json()["error"]) == (409, "in_doubt")
    assert len(shop.effects) == 1


def test_a_body_over_a_mebibyte_is_413(origin: str, shop: Shop) -> None:
    body = b"x" * ((1 << 20) + 1)
    connection = http.client.HTTPConnection(urlsplit(origin).netloc)
    try:
        connection.request("POST", "/refunds", body, signed("POST", "/refunds", body))
    except OSError:
        pass  # it is answered, and closed, before all of it came
    assert connection.getresponse().status == 413
    connection.close()
    assert shop.effects == []


@pytest.mark.parametrize("target", ["/orders/a%2Fb%20c", "/orders/%C3%A9?x=%2F&y=a+b", "/orders/$&+=:@~-._", "/a//b/./c/../d"])
def test_a_target_is_verified_as_it_came(shop: Shop, target: str) -> None:
    with served_asgi(shop.asgi()) as origin:
        assert call(origin, "GET", target).status == 200


@pytest.mark.parametrize("target", ["/orders/a%20c%C3%A9", "/orders/$&+=:@~-._", "/orders?x=%2f&y=a+b"])
def test_where_a_server_tells_no_raw_target_it_is_escaped_as_countersign_does(shop: Shop, target: str) -> None:
    with served_wsgi(shop.wsgi()) as origin:
        assert call(origin, "GET", target).status == 200
        assert call(origin, "GET", "/orders/a%2fb").status == 401


@pytest.mark.parametrize("name", ["REQUEST_URI", "RAW_URI"])
def test_a_raw_target_that_a_server_tells_is_what_is_verified(shop: Shop, name: str) -> None:
    def telling(environ: Any, start_response: Any) -> Any:
        return shop.wsgi()({**environ, name: "/orders/a%2fb"}, start_response)

    with served_wsgi(telling) as origin:
        assert call(origin, "GET", "/orders/a%2fb").status == 200
        assert call(origin, "GET", "/orders/other").status == 401


def test_a_first_answer_keeps_its_headers_and_a_repeat_has_what_is_remembered(shop: Shop) -> None:
    for serve, app in (SERVERS["wsgi"], SERVERS["asgi"]):
        with serve(app(Shop(Gate(secrets=[SECRET], store=MemoryStore())))) as origin:
            first, again = (call(origin, *REFUND, b"{}") for _ in range(2))
        assert (first.headers.get("x-own"), again.headers.get("x-own")) == ("kept", None)
        assert first.headers["content-length"] == again.headers["content-length"] == str(len(first.body))


@pytest.mark.parametrize("status", [200, 422, 503])
def test_an_answer_that_is_too_large_is_a_500_without_it(shop: Shop, status: int) -> None:
    part = b"x" * (1 << 16)

    def plain(environ: Any, start_response: Any) -> Any:
        start_response(f"{status} X", [("X-Own", "kept")])
        return (part for _ in range(20))

    async def asynchronous(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": [(b"x-own", b"kept")]})
        for n in range(20):
            await send({"type": "http.response.body", "body": part, "more_body": n < 19})

    gates = [Gate(secrets=[SECRET], store=MemoryStore(), on_error=lambda _: None) for _ in range(2)]
    for context in (served_wsgi(WsgiReceiver(plain, gates[0])), served_asgi(AsgiReceiver(asynchronous, gates[1]))):
        with context as origin:
            reply = call(origin, *REFUND, b"{}")
            assert (reply.status, reply.json()["error"], reply.headers.get("x-own")) == (500, "not_remembered", None)


@pytest.mark.parametrize("ends", ["before", "within"])
def test_an_application_that_ends_without_a_whole_answer_leaves_the_key_in_doubt(shop: Shop, ends: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if ends == "within":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"{", "more_body": True})

    with served_asgi(AsgiReceiver(app, shop.gate)) as origin:
        assert call(origin, *REFUND, b"{}").status == 500
        assert call(origin, *REFUND, b"{}").json()["error"] == "in_doubt"


def test_an_effect_goes_on_when_its_caller_hangs_up(shop: Shop) -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    later: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        begun.set()
        await asyncio.get_running_loop().run_in_executor(None, go_on.wait)
        gone = asyncio.ensure_future(receive())  # as Starlette asks whether to stop
        await asyncio.sleep(0)
        later.append(gone.done())
        gone.cancel()
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    class Told(MemoryStore):
        def finish(self, *args: Any) -> None:
            super().finish(*args)
            ended.set()

    with served_asgi(AsgiReceiver(app, Gate(secrets=[SECRET], store=Told()))) as origin:
        connection = http.client.HTTPConnection(urlsplit(origin).netloc)
        connection.request("POST", "/refunds", b"{}", signed("POST", "/refunds", b"{}"))
        begun.wait()
        connection.close()
        go_on.set()
        ended.wait()
        again = call(origin, "POST", "/refunds", b"{}")
    assert (again.status, again.body, again.headers["idempotency-replayed"], later) == (201, b"done", "true", [False])


def test_a_cancelled_request_does_not_cancel_its_effect(shop: Shop) -> None:
    async def main() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            begun.set()
            await go_on.wait()
            await send({"type": "http.response.start", "status": 201, "headers": []})
            await send({"type": "http.response.body", "body": b"done"})

        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b"{}"}

        receiver = AsgiReceiver(app, shop.gate)
        headers = [(name.lower().encode(), value.encode()) for name, value in signed("POST", "/refunds", b"{}").items()]
        scope = {"type": "http", "method": "POST", "path": "/refunds", "query_string": b"", "headers": headers}
        task = asyncio.ensure_future(receiver(scope, receive, send))
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        go_on.set()
        while receiver._effects:
            await asyncio.wait(list(receiver._effects))
            await asyncio.sleep(0)
        await receiver(scope, receive, send)
        assert sent[0]["status"] == 201 and (b"idempotency-replayed", b"true") in sent[0]["headers"]

    asyncio.run(main())


def test_a_websocket_is_refused_for_nothing_in_it_is_signed(shop: Shop) -> None:
    async def main() -> list[Any]:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "websocket.connect"}

        async def app(scope: Any, receive: Any, send: Any) -> None:
            raise AssertionError("it was let in")

        await AsgiReceiver(app, shop.gate)({"type": "websocket", "path": "/", "headers": []}, receive, send)
        return sent

    assert asyncio.run(main()) == [{"type": "websocket.close", "code": 1008}]
