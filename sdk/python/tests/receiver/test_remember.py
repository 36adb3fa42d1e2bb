"""What a repeat gets, and what becomes of a key by its answer, over any store, for
blocking handlers and for asyncio."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from countersign.receiver import Answer, Call, Claim, Delivery, Entry, MemoryStore, Reply, SqlTransactions, json_answer
from countersign.receiver.remember import Remembering, remembered
from countersign.steps import arun, run

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
CALL = Call("POST", "/refunds", "run-1", "refund", "run-1.refund", NOW)
OK = json_answer(201, {"id": "r-1"})

Handler = Callable[[Delivery], Answer]
Remember = Callable[..., Reply]


def how(store: Any, at: datetime = NOW) -> tuple[Remembering, list[BaseException]]:
    errors: list[BaseException] = []
    return Remembering(store, clock=lambda: at, on_error=errors.append), errors


def blocking(store: Any, handler: Handler, call: Call = CALL, body: bytes = b"{}", at: datetime = NOW) -> Reply:
    return run(remembered(how(store, at)[0], call, body, handler, lambda work, *args: work(*args)))


def asynchronous(store: Any, handler: Handler, call: Call = CALL, body: bytes = b"{}", at: datetime = NOW) -> Reply:
    async def handle(delivery: Delivery) -> Answer:
        return handler(delivery)

    async def main() -> Reply:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as thread:
            return await arun(remembered(how(store, at)[0], call, body, handle, lambda work, *args: loop.run_in_executor(thread, work, *args)))

    return asyncio.run(main())


@pytest.fixture(params=[blocking, asynchronous])
def remember(request: pytest.FixtureRequest) -> Remember:
    return request.param  # type: ignore[no-any-return]


def never(_: Delivery) -> Answer:
    raise AssertionError("it ran again")


def giving(answer: Answer) -> Handler:
    return lambda _: answer


def raising(error: Exception) -> Handler:
    def handler(_: Delivery) -> Answer:
        raise error

    return handler


def code(reply: Reply) -> str:
    return str(json.loads(reply.answer.body)["error"])


def test_a_repeat_gets_the_first_answer_and_the_handler_runs_once(store: Any, remember: Remember) -> None:
    assert remember(store, giving(OK)) == Reply(OK)
    assert remember(store, never) == Reply(OK, {"Idempotency-Replayed": "true"})


@pytest.mark.parametrize("other", [{"body": b"{} "}, {"call": replace(CALL, target="/refunds?x=1")}, {"call": replace(CALL, method="PUT")}])
def test_another_payload_under_the_key_is_409(store: Any, remember: Remember, other: Any) -> None:
    remember(store, giving(OK))
    reply = remember(store, never, **other)
    assert (reply.answer.status, code(reply)) == (409, "idempotency_conflict")


def test_of_twenty_twins_at_once_one_runs_and_the_others_are_told_to_ask_again(store: Any, remember: Remember) -> None:
    effects: list[int] = []
    others = threading.Semaphore(0)

    def effect(_: Delivery) -> Answer:
        effects.append(1)
        for _other in range(19):
            others.acquire()
        return OK

    def twin(_: int) -> Reply:
        reply = remember(store, effect)
        others.release()
        return reply

    with ThreadPoolExecutor(20) as threads:
        replies = list(threads.map(twin, range(20)))
    assert len(effects) == 1
    refused = [reply for reply in replies if reply.answer.status == 409]
    assert {code(reply) for reply in refused} == {"in_progress"} and len(refused) == 19
    assert {reply.headers["Retry-After"] for reply in refused} == {"1"}


def test_a_4xx_frees_the_key(store: Any, remember: Remember) -> None:
    assert remember(store, giving(json_answer(422, {}))).answer.status == 422
    assert remember(store, giving(OK), body=b"corrected") == Reply(OK)


def test_an_exception_a_5xx_and_a_408_leave_the_key_in_doubt_and_nothing_runs_again_by_itself(store: Any, remember: Remember) -> None:
    thrown, failed, late = (replace(CALL, idempotency_key=f"k{n}") for n in range(3))
    with pytest.raises(OSError, match="half-way"):
        remember(store, raising(OSError("half-way")), call=thrown)
    assert remember(store, giving(json_answer(502, {})), call=failed).answer.status == 502
    assert remember(store, giving(json_answer(408, {})), call=late).answer.status == 408
    for call in (thrown, failed, late):
        reply = remember(store, never, call=call)
        assert (reply.answer.status, code(reply), reply.headers) == (409, "in_doubt", {})
        store.release(call.idempotency_key)  # a person has looked
        assert remember(store, giving(OK), call=call) == Reply(OK)


@pytest.mark.parametrize("wrong", [Answer(99), Answer(200, "text/plain\r\nX: y"), Answer(200, "größe™"), {"status": 200}, None])
def test_what_no_server_could_answer_is_not_remembered(store: Any, remember: Remember, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        remember(store, giving(wrong))
    assert code(remember(store, never)) == "in_doubt"


def test_a_twin_of_one_that_just_ended_gets_its_answer_and_is_not_told_that_nobody_knows(remember: Remember) -> None:
    inner = MemoryStore()
    begun, go_on = threading.Event(), threading.Event()

    def first(_: Delivery) -> Answer:
        begun.set()
        go_on.wait()
        return OK

    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(blocking, inner, first)
        begun.wait()

        class Late(MemoryStore):
            def claim(self, claim: Claim) -> Entry | None:
                entry = inner.claim(claim)
                if entry is not None and entry.answer is None:
                    go_on.set()  # the first one ends between the store's answer and ours
                    ended.result()
                return entry

        assert remember(Late(), never) == Reply(OK, {"Idempotency-Replayed": "true"})


def test_release_says_that_nothing_happened_and_a_repeat_runs(store: Any, remember: Remember) -> None:
    def refuse(delivery: Delivery) -> Answer:
        delivery.release()
        raise OSError("the bank is closed")

    with pytest.raises(OSError, match="closed"):
        remember(store, refuse)
    assert remember(store, giving(OK)) == Reply(OK)


def test_an_answer_that_is_too_large_is_not_given_and_the_key_is_in_doubt(store: Any, remember: Remember) -> None:
    reply = remember(store, giving(Answer(200, "text/plain", b"x" * ((1 << 20) + 1))))
    assert (reply.answer.status, code(reply)) == (500, "not_remembered")
    assert code(remember(store, never)) == "in_doubt"


def test_another_processs_claim_counts_as_in_progress_for_a_while_then_as_in_doubt(store: Any, remember: Remember) -> None:
    probe = MemoryStore()
    remember(probe, giving(OK))
    known = probe.claim(Claim(CALL.idempotency_key, "", "", NOW))
    assert known is not None
    store.claim(Claim(CALL.idempotency_key, known.claim.payload, "a-process-that-died.1", NOW))
    assert code(remember(store, never, at=NOW + timedelta(milliseconds=119_999))) == "in_progress"
    assert code(remember(store, never, at=NOW + timedelta(milliseconds=120_000))) == "in_doubt"


def test_a_key_that_is_too_long_is_refused(store: Any, remember: Remember) -> None:
    assert code(remember(store, never, call=replace(CALL, idempotency_key="k" * 513))) == "invalid_request"


def test_the_fingerprint_of_a_payload_is_that_of_the_other_kits() -> None:
    store = MemoryStore()
    blocking(store, giving(OK))
    known = store.claim(Claim(CALL.idempotency_key, "", "", NOW))
    # echo -n '{}' | sha256sum, then of POST, /refunds and that
    assert known is not None and known.claim.payload == "48d4c0d08fd2cb92d0ea93e99c3ac18688d8c69f2782963e46453b00929ccbf5"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_is_another_one(store: Any) -> None:
    """A server that loads the application before it forks must not share names of claims."""
    from countersign.receiver.remember import _process

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, _process.name().encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100).decode().split(".")[0] != _process.name().split(".")[0]


class Failing(MemoryStore):
    """A store of which one operation fails."""

    def __init__(self, operation: str) -> None:
        super().__init__()
        self._operation = operation

    def _fail(self, operation: str) -> None:
        if operation == self._operation:
            raise OSError("the disk is gone")

    def claim(self, claim: Claim) -> Entry | None:
        self._fail("claim")
        return super().claim(claim)

    def finish(self, key: str, answer: Answer) -> None:
        self._fail("finish")
        super().finish(key, answer)

    def release(self, key: str) -> None:
        self._fail("release")
        super().release(key)


def test_without_a_claim_nothing_is_done(remember: Remember) -> None:
    reply = remember(Failing("claim"), never)
    assert (reply.answer.status, code(reply), reply.headers["Retry-After"]) == (503, "unavailable", "1")
    assert b"disk" not in reply.answer.body


def test_an_answer_that_is_not_remembered_is_not_given(remember: Remember) -> None:
    store = Failing("finish")
    assert code(remember(store, giving(OK))) == "not_remembered"
    assert code(remember(store, never)) == "in_doubt"


def test_a_key_that_could_not_be_released_stays_in_doubt(remember: Remember) -> None:
    store = Failing("release")
    assert remember(store, giving(json_answer(422, {}))).answer.status == 422
    assert code(remember(store, never)) == "in_doubt"


def insert(id: str, answer: Answer = OK) -> Handler:
    def handler(delivery: Delivery) -> Answer:
        cursor = delivery.tx.cursor()
        cursor.execute(f"INSERT INTO refunds (id) VALUES ('{id}')")
        cursor.close()
        return answer

    return handler


def count(begin: Any, id: str) -> int:
    with begin() as connection:
        cursor = connection.cursor()
        cursor.execute(f"SELECT COUNT(*) FROM refunds WHERE id = '{id}'")
        return int(cursor.fetchone()[0])


def test_key_effect_and_answer_are_committed_together_and_a_repeat_gets_the_answer(database: Any, remember: Remember) -> None:
    store = SqlTransactions(*database)
    assert remember(store, insert("r")) == Reply(OK)
    assert remember(store, never) == Reply(OK, {"Idempotency-Replayed": "true"})
    assert count(database[0], "r") == 1


def test_twins_at_once_have_one_effect_and_each_gets_its_answer(database: Any, remember: Remember) -> None:
    store = SqlTransactions(*database)
    with ThreadPoolExecutor(20) as threads:
        replies = list(threads.map(lambda _: remember(store, insert("r")), range(20)))
    assert [reply.answer for reply in replies] == [OK] * 20
    assert sum("Idempotency-Replayed" in reply.headers for reply in replies) == 19


@pytest.mark.parametrize("status", [408, 422, 500, 200])
def test_what_is_not_remembered_undoes_the_effect_with_the_key(database: Any, remember: Remember, status: int) -> None:
    store = SqlTransactions(*database)
    too_large = b"x" * ((1 << 20) + 1) if status == 200 else b""
    assert remember(store, insert("r", Answer(status, "", too_large))).answer.status == (status if status != 200 else 500)
    assert count(database[0], "r") == 0
    assert remember(store, insert("r")) == Reply(OK)
    assert count(database[0], "r") == 1


def test_an_exception_undoes_the_effect_with_the_key(database: Any, remember: Remember) -> None:
    store = SqlTransactions(*database)

    def half_way(delivery: Delivery) -> Answer:
        insert("r")(delivery)
        raise OSError("half-way")

    with pytest.raises(OSError, match="half-way"):
        remember(store, half_way)
    assert count(database[0], "r") == 0
    assert remember(store, insert("r")) == Reply(OK)


def test_release_undoes_the_effect_whatever_is_answered(database: Any, remember: Remember) -> None:
    store = SqlTransactions(*database)

    def taken_back(delivery: Delivery) -> Answer:
        delivery.release()
        return insert("r")(delivery)

    assert remember(store, taken_back).answer.status == 201
    assert count(database[0], "r") == 0
    assert remember(store, insert("r")) == Reply(OK)


def test_a_transaction_that_cannot_begin_is_503_and_one_that_cannot_be_committed_is_500(database: Any, remember: Remember) -> None:
    begin, style = database

    @contextmanager
    def no_begin() -> Iterator[Any]:
        raise OSError("no connection")
        yield

    @contextmanager
    def no_commit() -> Iterator[Any]:
        with begin() as connection:
            yield connection
            raise OSError("lost at COMMIT")

    assert code(remember(SqlTransactions(no_begin, style), never)) == "unavailable"
    assert code(remember(SqlTransactions(no_commit, style), insert("r"))) == "not_remembered"
    assert count(begin, "r") == 0


def test_a_handler_that_breaks_its_transaction_is_not_answered_as_done(database: Any, remember: Remember) -> None:
    begin, style = database

    def breaks(delivery: Delivery) -> Answer:
        delivery.tx.rollback()
        return OK

    assert code(remember(SqlTransactions(begin, style), breaks)) == "not_remembered"
