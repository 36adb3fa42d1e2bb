"""What happens on the wire: refusals, broken answers, repeats, and what never leaves."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from support.calling import Caller
from support.scripted import CUT, Scripted, answering, refused

from countersign import Countersign, CountersignConnectionError, CountersignError

TOKEN = "csn_a-token-that-must-not-show"
PLAN: Any = {"name": "p", "modelId": "m", "modelRevision": 1, "steps": []}
RUN = answering(202, {"id": "run-1", "idempotencyKey": "k"})
BUSY = refused(503, "capacity", Retry_After="0")


def test_a_refusal_says_code_status_message_and_request_id(caller: Caller) -> None:
    with Scripted(refused(409, "drift")) as server:
        cs = caller.make(server.url, TOKEN)
        with pytest.raises(CountersignError) as raised:
            caller.call(lambda: cs.plan("p"))
    error = raised.value
    assert (error.code, error.status, error.message, error.request_id) == ("drift", 409, "it is drift", "req-12345678")
    assert str(error) == "drift: it is drift"


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(answering(307, "", Location="http://127.0.0.1:9/elsewhere"), id="a redirect"),
        pytest.param(answering(502, "<h1>Bad gateway</h1>"), id="a page of a proxy"),
        pytest.param(answering(403, {"detail": "no"}), id="a refusal without our body"),
        pytest.param(answering(403, ["error", "message"]), id="a refusal that is a list"),
        pytest.param(answering(200, "{"), id="no JSON"),
        pytest.param(answering(200, "NaN"), id="no number of JSON"),
        pytest.param(answering(200, "1e99999999999999999999"), id="a number beyond Decimal"),
        pytest.param(answering(200, "[" * 100_000), id="nested without end"),
        pytest.param(b'HTTP/1.1 200 X\r\nContent-Length: 3\r\n\r\n"\xff"', id="no UTF-8"),
        pytest.param(answering(200, {"x": "x" * 2000}), id="too large"),
        pytest.param(b"HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n{", id="cut off"),
        pytest.param(b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", id="chunks without an end"),
        pytest.param(b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}}\r\n0\r\n\r\n", id="a chunk that is too long"),
        pytest.param(b"HTTP/1.1 200 X\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", id="two lengths"),
        pytest.param(b"HTTP/1.1 200 X\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", id="a length and chunks"),
        pytest.param(b"SMTP ready\r\n\r\n", id="no HTTP"),
        pytest.param(b"HTTP/1.1 200 X\r\nX: " + b"x" * 70_000, id="a head without an end"),
        pytest.param(CUT, id="no answer"),
    ],
)
def test_an_answer_that_cannot_be_read_says_nothing_of_the_outcome(caller: Caller, reply: bytes) -> None:
    with Scripted(reply) as server:
        cs = caller.make(server.url, TOKEN, max_answer_bytes=1000 if b"[[" not in reply else 8 << 20)
        with pytest.raises(CountersignConnectionError):
            caller.call(lambda: cs.create_plan(PLAN))
    assert len(server.seen) == 1  # a write is not sent again


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\n{\r\n0c\r\n\"id\":\"plan\"}\r\n0\r\nX: y\r\n\r\n", id="chunks"),
        pytest.param(b'HTTP/1.0 200 OK\r\n\r\n{"id":"plan"}', id="until the end"),
        pytest.param(b'HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200\r\nContent-Length: 13\r\n\r\n{"id":"plan"}more', id="after an early one"),
    ],
)
def test_answers_come_in_each_form_of_http(caller: Caller, reply: bytes) -> None:
    with Scripted(reply) as server:
        cs = caller.make(server.url, TOKEN)
        assert caller.call(lambda: cs.plan("p")) == {"id": "plan"}


def test_an_answer_that_does_not_come_in_time_is_given_up(caller: Caller) -> None:
    with Scripted(None) as server:
        cs = caller.make(server.url, TOKEN, timeout=0.05, retries=0)
        with pytest.raises(CountersignConnectionError, match="in time"):
            caller.call(lambda: cs.health())


def test_reads_are_repeated_after_a_broken_connection_as_often_as_asked(caller: Caller) -> None:
    with Scripted(CUT, CUT, answering(200, {"status": "ok"})) as server:
        cs = caller.make(server.url, TOKEN)
        assert caller.call(lambda: cs.health()) == {"status": "ok"}
    assert len(server.seen) == 3
    with Scripted(CUT) as server:
        once = caller.make(server.url, TOKEN, retries=0)
        with pytest.raises(CountersignConnectionError):
            caller.call(lambda: once.health())
    assert len(server.seen) == 1


def test_a_run_start_is_repeated_under_one_key_which_is_the_callers_or_ours(caller: Caller) -> None:
    with Scripted(CUT, RUN) as server:
        cs = caller.make(server.url, TOKEN)
        caller.call(lambda: cs.start_run({"planId": "p"}))
    keys = [seen.headers["idempotency-key"] for seen in server.seen]
    assert re.fullmatch(r"[0-9a-f-]{36}", keys[0]) and keys == [keys[0]] * 2
    with Scripted(CUT) as server:
        cs = caller.make(server.url, TOKEN)
        with pytest.raises(CountersignConnectionError) as raised:
            caller.call(lambda: cs.start_team_run("t", {"expectedRevision": 1}, idempotency_key="intent-7"))
    assert raised.value.idempotency_key == "intent-7"
    assert [seen.headers["idempotency-key"] for seen in server.seen] == ["intent-7"] * 3
    assert len({seen.body for seen in server.seen}) == 1


@pytest.mark.parametrize("key", ["", "a b", "é", "k" * 256, "a\r\nX: y"])
def test_a_key_that_is_none_is_refused_before_anything_is_sent(caller: Caller, key: str) -> None:
    cs = caller.make("http://127.0.0.1:9", TOKEN)
    with pytest.raises(ValueError, match="idempotency_key"):
        caller.call(lambda: cs.start_run({"planId": "p"}, idempotency_key=key))


def test_a_503_that_says_when_is_repeated_for_writes_too_one_that_says_too_late_is_not(caller: Caller) -> None:
    with Scripted(BUSY, answering(201, {"id": "p"})) as server:
        cs = caller.make(server.url, TOKEN)
        caller.call(lambda: cs.create_plan(PLAN))
    assert len(server.seen) == 2
    with Scripted(refused(503, "capacity", Retry_After="3600")) as server:
        cs = caller.make(server.url, TOKEN)
        with pytest.raises(CountersignError) as raised:
            caller.call(lambda: cs.start_run({"planId": "p"}))
    assert (raised.value.code, raised.value.retry_after, len(server.seen)) == ("capacity", 3600, 1)


def test_other_refusals_are_not_repeated(caller: Caller) -> None:
    with Scripted(refused(500, "internal")) as server:
        cs = caller.make(server.url, TOKEN)
        with pytest.raises(CountersignError, match="internal"):
            caller.call(lambda: cs.health())
    assert len(server.seen) == 1


def test_a_redirect_takes_the_token_nowhere(caller: Caller) -> None:
    with Scripted(answering(200, "{}")) as elsewhere, Scripted(answering(302, "", Location=elsewhere.url)) as server:
        cs = caller.make(server.url, TOKEN, retries=0)
        with pytest.raises(CountersignConnectionError, match="redirect"):
            caller.call(lambda: cs.health())
    assert elsewhere.seen == []


def test_paths_are_escaped_and_ids_cannot_climb_out_of_them(caller: Caller) -> None:
    with Scripted(answering(200, {})) as server:
        cs = caller.make(server.url, TOKEN)
        caller.call(lambda: cs.save_user("a/b?c@example.org", {"roles": ["VIEWER"]}))
        for bad in ("", ".", ".."):
            with pytest.raises(ValueError):
                caller.call(lambda: cs.run(bad))
    assert [seen.line for seen in server.seen] == ["PUT /api/runtime/v1/users/a%2Fb%3Fc%40example.org HTTP/1.1"]


def test_numbers_leave_with_every_digit_and_come_back_so(caller: Caller) -> None:
    text = '{"big":12345678901234567890123,"price":249.00,"small":1E-7,"far":1E+400}'
    with Scripted(answering(200, text)) as server:
        cs = caller.make(server.url, TOKEN)
        body = {"big": 12345678901234567890123, "price": Decimal("249.00"), "small": Decimal("1E-7"), "far": Decimal("1e400")}
        got = caller.call(lambda: cs.save_model("m", body))
    assert server.seen[0].body.decode() == text
    assert got == body and {type(value) for value in got.values()} == {int, Decimal}


@pytest.mark.parametrize("bad", [64.5, float("nan"), Decimal("NaN"), Decimal("Infinity"), {1: 2}, object(), b"x", "\ud800"])
def test_what_is_no_exact_json_is_refused_before_anything_is_sent(caller: Caller, bad: object) -> None:
    with Scripted(RUN) as server:
        cs = caller.make(server.url, TOKEN)
        with pytest.raises((TypeError, ValueError)):
            caller.call(lambda: cs.start_agent_run("a", {"expectedRevision": 1, "capability": "pay", "inputs": {"lines": [bad]}}))
    assert server.seen == []


def test_a_float_is_named_with_its_place_and_the_way_out() -> None:
    cs = Countersign("http://127.0.0.1:9", TOKEN)
    with pytest.raises(TypeError, match=re.escape("inputs.lines[0].amount: a float such as 64.5 is not exact; give Decimal('64.5')")):
        cs.start_agent_run("a", {"expectedRevision": 1, "capability": "pay", "inputs": {"lines": [{"amount": 64.5}]}})


def test_the_token_shows_in_no_error_and_no_print(caller: Caller) -> None:
    with Scripted(CUT) as server:
        cs = caller.make(server.url, TOKEN, retries=0)
        with pytest.raises(CountersignConnectionError) as raised:
            caller.call(lambda: cs.health())
    for thing in (cs, raised.value, raised.value.args, raised.value.__cause__, vars(cs._transport)):
        assert TOKEN not in repr(thing)
    with pytest.raises(ValueError) as refused_token:
        caller.make(server.url, TOKEN + "\n")
    assert TOKEN not in str(refused_token.value)


@pytest.mark.parametrize(
    ("base_url", "why"),
    [
        ("http://countersign.example", "https"),
        ("http://127.0.0.1.example.org", "https"),
        ("ftp://127.0.0.1", "http or https"),
        ("countersign.example", "http or https"),
        ("https://countersign.example/v1", "prefix"),
        ("https://countersign.example?", "origin only"),
        ("https://user:word@countersign.example", "origin only"),
        ("https://countersign.example:x", "http or https"),
        ("https://countersign.example\r\nX: y", "http or https"),
        ("", "http or https"),
    ],
)
def test_a_base_url_that_is_no_safe_origin_is_refused(base_url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Countersign(base_url, TOKEN)


@pytest.mark.parametrize("base_url", ["https://countersign.example", "http://localhost:8080", "http://127.0.0.1:8080/", "http://[::1]:8080"])
def test_an_origin_is_taken(base_url: str) -> None:
    Countersign(base_url, TOKEN)
    Countersign("http://countersign.example", TOKEN, allow_insecure=True)


@pytest.mark.parametrize("prefix", ["no-slash", "/a/../b", "/a?b", "//elsewhere.example/", "/a\r\nb"])
def test_a_prefix_that_is_no_path_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        Countersign("https://countersign.example", TOKEN, prefix=prefix)


@pytest.mark.parametrize("options", [{"timeout": 0}, {"retries": -1}, {"max_answer_bytes": 0}])
def test_an_option_out_of_its_bounds_is_refused(options: Any) -> None:
    with pytest.raises(ValueError):
        Countersign("https://countersign.example", TOKEN, **options)
