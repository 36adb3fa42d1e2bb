"""Signed answers and statements: the vectors of the Go kit, and what a receiver does with a key."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import sys
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from support.signing import SECRET, signed

from countersign.receipt import ed25519
from countersign.receiver import (
    ANSWER,
    Answer,
    AnswerKey,
    AnswerParts,
    AsgiReceiver,
    Delivery,
    Gate,
    MemoryStore,
    Statement,
    answer_key_id,
    json_answer,
    sign_answer,
    verify_answer,
    wsgi_app,
)

from .stores import DATABASES, STORES, transactions

VECTORS = json.loads((Path(__file__).parents[4] / "receiver/testdata/answer-vectors.json").read_text("utf-8"))
KEY = AnswerKey(VECTORS["seed"])
PUBLIC = VECTORS["publicKey"]
AT = int(time.time())  # only beside a clock that stands there


def test_the_key_has_the_text_and_the_id_of_the_vectors() -> None:
    assert (KEY.text, answer_key_id(PUBLIC), repr(KEY)) == (PUBLIC, VECTORS["keyId"], f"AnswerKey({PUBLIC})")
    with pytest.raises(ValueError, match="64 hex digits"):
        AnswerKey("ab")


def test_both_ways_to_sign_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    first = KEY.sign(b"text")
    missing: Any = None
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", missing)
    assert KEY.sign(b"text") == first == ed25519.sign(bytes.fromhex(KEY.seed), b"text")


@pytest.mark.parametrize("v", VECTORS["answers"], ids=lambda v: str(v["name"]))
def test_each_answer_vector_is_judged_as_it_says(v: dict[str, Any]) -> None:
    body, answer = base64.b64decode(v["bodyBase64"]), base64.b64decode(v["answerBase64"])
    parts = AnswerParts(v["idempotencyKey"], v["timestamp"], v["method"], v["target"], body, v["status"], answer)
    assert verify_answer([PUBLIC], parts, v["headers"]) == ((VECTORS["keyId"], v["at"]) if v["valid"] else None)
    if v["valid"]:
        assert sign_answer(KEY, parts, v["at"]) == v["headers"][0]


@pytest.mark.parametrize("v", VECTORS["statements"], ids=lambda v: str(v["name"]))
def test_each_statement_vector_is_written_as_it_says(v: dict[str, Any]) -> None:
    def moment(milliseconds: int) -> datetime:
        return datetime.fromtimestamp(milliseconds / 1000, timezone.utc)

    answer = Answer(v["status"], "", base64.b64decode(v["bodyBase64"]))
    assert Statement(v["key"], v["state"], moment(v["at"]), moment(v["since"]), answer).encoded() == v["statement"].encode()


class Receiver:
    """Answers each call with the status that its path names."""

    def __init__(self, store: Any, clock: Any = time.time) -> None:
        self.effects = 0
        self.at = int(clock())
        self.gate = Gate([SECRET], store, clock=clock, answer_key=KEY, settlement="/settlement")
        self.app = wsgi_app(self.answer, self.gate)

    def answer(self, delivery: Delivery) -> Answer:
        self.effects += 1
        status = int(delivery.call.target[1:])
        if delivery.tx is not None:
            delivery.tx.cursor().execute(f"INSERT INTO refunds (id) VALUES ('{delivery.call.idempotency_key}')")
        return Answer(status) if status == 204 else json_answer(status, {"n": self.effects})

    def call(self, method: str, target: str, body: bytes = b"", *, key: str = "run-1.k") -> tuple[int, dict[str, str], bytes]:
        path, _, query = target.partition("?")
        environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
        for name, value in signed(method, target, body, key=key, at=self.at).items():
            environ["HTTP_" + name.upper().replace("-", "_")] = value
        given: list[Any] = []
        parts = self.app(environ, lambda status, headers: given.extend([int(status[:3]), dict(headers)]))
        return given[0], given[1], b"".join(parts)

    def is_signed(self, method: str, target: str, body: bytes = b"", *, key: str = "run-1.k") -> tuple[int, bool, Any]:
        status, headers, answer = self.call(method, target, body, key=key)
        parts = AnswerParts(key, str(self.at), method, target, body, status, answer)
        if ANSWER in headers:
            assert verify_answer([PUBLIC], parts, [headers[ANSWER]]) is not None
        return status, ANSWER in headers, json.loads(answer) if answer else None

    def ask(self, key: str) -> Any:
        status, by_us, said = self.is_signed("GET", f"/settlement/{key}?sent={self.at}", key=f"{key}~settle-1")
        assert (status, by_us) == (200, True)
        return said

    def withdraw(self, key: str) -> Any:
        return self.is_signed("POST", f"/settlement/{key}/withdraw?sent={self.at}", key=f"{key}~withdraw")[2]


@pytest.fixture(params=[*sorted(STORES), *(f"transactions of {name}" for name in sorted(DATABASES))])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    name = request.param.removeprefix("transactions of ")
    dsn = request.getfixturevalue("dsn") if name == "postgresql" else ""
    return STORES[name](tmp_path, dsn) if name == request.param else transactions(*DATABASES[name](tmp_path, dsn))


@pytest.mark.parametrize("v", VECTORS["fates"], ids=lambda v: str(v["status"]))
def test_each_fate_vector_is_so(v: dict[str, Any]) -> None:
    receiver = Receiver(MemoryStore())
    target = f"/{v['status']}"
    assert receiver.is_signed("POST", target, b"{}")[:2] == (v["status"], v["signed"])
    said = receiver.ask("run-1.k")
    assert (said["state"], said.get("statusCode") == v["status"]) == (v["state"], v["kept"])
    assert receiver.is_signed("POST", target, b"{}")[:2] == (v["status"] if v["kept"] else 409, v["signed"])
    assert receiver.is_signed("GET", target, key="run-1.read")[:2] == (v["status"], v["signed"])


def test_what_was_never_seen_is_withdrawn_and_nothing_else(store: Any) -> None:
    receiver, run = Receiver(store), f"run-{time.monotonic_ns()}"
    assert [receiver.ask(f"{run}.a")["state"] for _ in range(2)] == ["UNSEEN", "UNSEEN"]
    assert [receiver.withdraw(f"{run}.a")["state"] for _ in range(2)] == ["WITHDRAWN", "WITHDRAWN"]
    assert receiver.ask(f"{run}.a")["state"] == "WITHDRAWN"
    status, by_us, late = receiver.is_signed("POST", "/201", b"{}", key=f"{run}.a")
    assert (status, by_us, late["error"], receiver.effects) == (410, True, "key_withdrawn", 0)
    assert receiver.is_signed("POST", "/201", b"{}", key=f"{run}.b")[:2] == (201, True)
    assert receiver.withdraw(f"{run}.b")["state"] == "DONE"
    for method, target, want in [
        ("POST", "/settlement/k?sent=1", 405),
        ("GET", "/settlement/k/withdraw", 405),
        ("GET", "/settlement/k?sent=soon", 400),
        ("POST", "/settlement/~since/withdraw", 400),
        ("POST", "/settlement/k/other", 404),
    ]:
        assert receiver.call(method, target)[0] == want
    assert receiver.call("POST", "/201", b"{}", key="~since")[0] == 400


def test_a_signed_refusal_is_kept_and_has_no_effect(store: Any) -> None:
    receiver, key = Receiver(store), f"run-{time.monotonic_ns()}.k"
    for _ in range(2):
        assert receiver.is_signed("POST", "/422", b"{}", key=key)[:2] == (422, True)
    assert receiver.effects == 1
    assert receiver.ask(key)["statusCode"] == 422
    if hasattr(store, "transaction"):
        with store.transaction() as (connection, _):
            cursor = connection.cursor()
            cursor.execute(f"SELECT count(*) FROM refunds WHERE id = '{key}'")
            assert cursor.fetchone()[0] == 0


def test_a_restored_receiver_takes_calls_after_ten_minutes(tmp_path: Path) -> None:
    store = MemoryStore()
    store.restored(datetime.fromtimestamp(AT, timezone.utc) - timedelta(seconds=599))
    status, headers, _ = Receiver(store, lambda: AT).call("POST", "/201", b"{}")
    assert (status, headers["Retry-After"], ANSWER in headers) == (503, "1", False)
    assert Receiver(store, lambda: AT).ask("run-1.k")["state"] == "UNSEEN"
    assert Receiver(store, lambda: AT + 1).call("POST", "/201", b"{}")[0] == 201


def test_a_settlement_needs_what_it_rests_on() -> None:
    for message, options in {
        "it needs an answer_key": {"store": MemoryStore(), "settlement": "/s"},
        "a store that is a Memory": {"store": object(), "settlement": "/s", "answer_key": KEY},
        "it is a path": {"store": MemoryStore(), "settlement": "s", "answer_key": KEY},
    }.items():
        with pytest.raises(ValueError, match=message):
            Gate([SECRET], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_asgi_answers_are_signed(method: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain"), (b"x-runtime-answer", b"forged")]})
        await send({"type": "http.response.body", "body": b"done"})

    sent: list[Any] = []

    async def one() -> None:
        scope = {"type": "http", "method": method, "path": "/x", "raw_path": b"/x", "query_string": b"", "headers": []}
        scope["headers"] = [(n.lower().encode(), v.encode()) for n, v in signed(method, "/x", at=AT).items()]

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await AsgiReceiver(app, Gate([SECRET], MemoryStore(), clock=lambda: AT, answer_key=KEY, settlement="/settlement"))(scope, receive, send)

    asyncio.run(one())
    headers = [value.decode() for name, value in sent[0]["headers"] if name == b"x-runtime-answer"]
    parts = AnswerParts("run-1.refund", str(AT), method, "/x", b"", 200, b"done")
    assert verify_answer([PUBLIC], parts, headers) is not None
