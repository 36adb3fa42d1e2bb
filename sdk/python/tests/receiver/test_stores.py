"""The law of every store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from countersign.receiver import MAX_BYTES, SCHEMA, Answer, Claim, Entry, MemoryStore, NotClaimed, SqlStore, SqlTransactions, transactions_of

AT = datetime(2026, 1, 1, 9, 0, 0, 123000, timezone.utc)


def claim(key: str, by: str = "me.1", at: datetime = AT) -> Claim:
    return Claim(key, "0a" * 32, by, at)


def test_of_any_number_of_claims_at_once_one_gets_the_key_and_the_others_its_entry(store: Any) -> None:
    def twin(n: int) -> Any:
        return store.claim(claim("k", f"me.{n}"))

    with ThreadPoolExecutor(10) as threads:
        entries = list(threads.map(twin, range(50)))
    assert entries.count(None) == 1
    winner = claim("k", f"me.{entries.index(None)}")
    assert all(entry == Entry(winner) for entry in entries if entry is not None)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(204), id="nothing"),
        pytest.param(Answer(201, "application/json; charset=utf-8", b'{"amount":249.00}'), id="json"),
        pytest.param(Answer(200, "application/octet-stream", b"\x00\xff\r\n\xc3('\"\\%s?"), id="binary"),
        pytest.param(Answer(200, 'text/plain; name="größe"', "漢字 🙂".encode()), id="unicode"),
        pytest.param(Answer(200, "text/plain", b"0123456789abcde\n" * (MAX_BYTES // 16)), id="large"),
    ],
)
def test_an_answer_comes_back_byte_for_byte(store: Any, answer: Answer) -> None:
    store.claim(claim("k"))
    store.finish("k", answer)
    assert store.claim(claim("k", "other.1", AT + timedelta(hours=1))) == Entry(claim("k"), answer)


def test_claimed_keys_only_are_finished_and_released(store: Any) -> None:
    for change in _changes(store):
        with pytest.raises(NotClaimed):
            change()
    assert store.claim(claim("k")) is None  # neither made one
    store.release("k")
    assert store.claim(claim("k", "two")) is None
    store.finish("k", Answer(200))
    for change in _changes(store):
        with pytest.raises(NotClaimed):
            change()
    assert store.claim(claim("k", "three")) == Entry(claim("k", "two"), Answer(200))


def _changes(store: Any) -> list[Callable[[], Any]]:
    return [lambda: store.finish("k", Answer(201)), lambda: store.release("k")]


def test_keys_that_differ_in_a_byte_are_two(store: Any) -> None:
    keys = ["run-1.a", "run-1.A", "run-1.a ", " run-1.a", "run-1.a%", "run-1.a%s", "run-1.a'", "run-1.a?", "run-1.", "run-1.\u00e4", "run-1.a\u0308", "k" * 512]
    assert [store.claim(claim(key)) for key in keys] == [None] * len(keys)


def test_an_answer_that_the_caller_changes_later_stays(store: Any) -> None:
    body: Any = bytearray(b"first")
    store.claim(claim("k"))
    store.finish("k", Answer(200, "text/plain", body))
    body[:] = b"later"
    assert store.claim(claim("k")).answer.body == b"first"


def test_finished_keys_before_a_time_are_forgotten_and_no_claimed_one(database: Any) -> None:
    store = SqlStore(*database)
    old = datetime(2020, 1, 1, tzinfo=timezone.utc)
    for one in (claim("old", at=old), claim("claimed", at=old), claim("fresh")):
        store.claim(one)
    for key in ("old", "fresh"):
        store.finish(key, Answer(200))
    store.forget(AT - timedelta(days=90))
    assert store.claim(claim("old")) is None
    assert store.claim(claim("claimed")) == Entry(claim("claimed", at=old))
    assert store.claim(claim("fresh")) == Entry(claim("fresh"), Answer(200))


def test_memory_drops_the_oldest_finished_key_first_and_never_a_claimed_one() -> None:
    store = MemoryStore(max_keys=3, max_bytes=10, max_age=timedelta(days=1))
    for key in ("a", "b", "c"):
        store.claim(claim(key))
    with pytest.raises(RuntimeError, match="full"):
        store.claim(claim("d"))
    store.finish("b", Answer(200, "", b"12345"))
    store.finish("a", Answer(200, "", b"123456"))  # beyond the bytes: b goes
    assert store.claim(claim("b")) is None
    assert store.claim(claim("e", at=AT + timedelta(days=2))) is None  # beyond the age: a went
    assert store.claim(replace(claim("c"), at=AT + timedelta(days=200))) == Entry(claim("c"))


def test_a_connection_that_commits_each_statement_by_itself_is_refused(tmp_path: Path, dsn: str, database: Any) -> None:
    def automatic() -> Any:
        connection = psycopg2.connect(dsn)
        connection.autocommit = True
        return connection

    with closing(automatic()) as connection, connection.cursor() as cursor:
        cursor.execute(SCHEMA)
    with closing(sqlite3.connect(tmp_path / "auto.db")) as connection:
        connection.execute(SCHEMA)
    for connect, style in ((automatic, "pyformat"), (lambda: sqlite3.connect(tmp_path / "auto.db", isolation_level=None), "qmark")):
        with pytest.raises(RuntimeError, match="autocommit"):
            with SqlTransactions(transactions_of(connect), style).transaction() as (_, keys):
                keys.claim(claim("k"))


def test_a_paramstyle_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="paramstyle"):
        SqlStore(transactions_of(lambda: None), "?")
