"""Keys in a table of PostgreSQL or SQLite, by any driver of the DB-API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timezone
from typing import Any

from .answer import Answer
from .store import Claim, Entry, NotClaimed

SCHEMA = """CREATE TABLE IF NOT EXISTS countersign_keys (
  idempotency_key TEXT    PRIMARY KEY,
  payload         TEXT    NOT NULL,
  state           TEXT    NOT NULL CHECK (state IN ('CLAIMED', 'FINISHED')),
  claimed_by      TEXT    NOT NULL,
  claimed_at      BIGINT  NOT NULL,
  status          INTEGER NOT NULL DEFAULT 0,
  content_type    TEXT    NOT NULL DEFAULT '',
  body            BYTEA
)"""
"""Makes the one table where it isn't there: put it among your migrations. It is that of
the Go and TypeScript kits, the same for PostgreSQL and SQLite. claimed_at is Unix
milliseconds, payload a lowercase hex SHA-256."""

Begin = Callable[[], AbstractContextManager[Any]]
"""Begins a transaction: a context of its connection, which commits, or rolls back where
an exception leaves it. `pool.connection` of psycopg_pool is one; transactions_of makes one."""

_MARKS = {"qmark": "?", "format": "%s", "pyformat": "%s"}
# A mark of a withdrawn key, and what the store knows of itself, are rows of the same table, told
# by their payload, which is no SHA-256: a table of an earlier release needs no migration, and a
# mark and a claim meet on one primary key.
_WITHDRAWN = "withdrawn"
_OWN = "memory"
_SINCE = "~since"
_RESTORED = "~restored"
_CLAIM_TRIES = 5  # how often a key is released between our insert, which found it, and our select, which didn't


def transactions_of(connect: Callable[[], Any]) -> Begin:
    """The transactions of connections that are opened for each, such as
    `transactions_of(lambda: sqlite3.connect("shop.db", timeout=30))`."""

    @contextmanager
    def begin() -> Iterator[Any]:
        connection = connect()
        try:
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()
        finally:
            connection.close()

    return begin


class _SqlMemory:
    """What a table says of its keys, each time in a transaction of its own."""

    _begin: Begin
    _mark: str
    _restored: tuple[datetime | None] | None = None  # what restored_at has found

    def look(self, key: str) -> Entry | None:
        with self._begin() as connection:
            return _Keys(connection, self._mark).look(key)

    def withdraw(self, key: str, at: datetime) -> Entry:
        with self._begin() as connection:
            return _Keys(connection, self._mark).withdraw(key, at)

    def since(self, now: datetime) -> datetime:
        with self._begin() as connection:
            return _Keys(connection, self._mark).since(now)

    def restored_at(self) -> datetime | None:
        """Asks the database once: a restore that another process declares is declared before
        this one is started."""
        if self._restored is None:
            entry = self.look(_RESTORED)
            self._restored = (entry.claim.at if entry else None,)
        return self._restored[0]

    def restored(self, at: datetime | None = None) -> None:
        at = at or datetime.now(timezone.utc)
        with self._begin() as connection:
            _Keys(connection, self._mark).restored(at)
        self._restored = (at,)


class SqlStore(_SqlMemory):
    """Keeps keys in a table. A key is CLAIMED in a transaction of its own before the effect
    begins and FINISHED in another one after it: what comes between the two leaves it in
    doubt. Where the effect is in the same database, use SqlTransactions. `paramstyle` is
    that of the driver's module: `sqlite3.paramstyle`, `psycopg2.paramstyle`."""

    def __init__(self, begin: Begin, paramstyle: str) -> None:
        self._begin = begin
        self._mark = _mark(paramstyle)

    def claim(self, claim: Claim) -> Entry | None:
        with self._keys() as keys:
            return keys.claim(claim)

    def finish(self, key: str, answer: Answer) -> None:
        with self._keys() as keys:
            keys.finish(key, answer)

    def release(self, key: str) -> None:
        with self._keys() as keys:
            keys.release(key)

    def forget(self, before: datetime) -> None:
        """Drops the FINISHED keys that were claimed before a time: 90 days ago or more, see Store."""
        with self._keys() as keys:
            keys.forget(before)

    @contextmanager
    def _keys(self) -> Iterator[_Keys]:
        with self._begin() as connection:
            yield _Keys(connection, self._mark)


class SqlTransactions(_SqlMemory):
    """For effects in the same database: exactly once. The key, the effect that the handler
    makes with the transaction's connection, and the answer are committed together. A
    crash, an exception, an answer 5xx or 4xx undo all of it, so no key is ever in doubt;
    a twin waits for the first one's end and gets its answer.

    It is wrong for a handler that does anything outside of the transaction, such as asking
    a payment provider: use a SqlStore there. The handler must neither commit nor roll
    back. On PostgreSQL the isolation must be READ COMMITTED, its default."""

    def __init__(self, begin: Begin, paramstyle: str) -> None:
        self._begin = begin
        self._mark = _mark(paramstyle)

    @contextmanager
    def transaction(self) -> Iterator[tuple[Any, _Keys]]:
        with self._begin() as connection:
            yield connection, _Keys(connection, self._mark, undoable=True)


def _mark(paramstyle: str) -> str:
    if paramstyle not in _MARKS:
        raise ValueError(f"paramstyle: it must be one of {', '.join(_MARKS)}, as the driver's module says")
    return _MARKS[paramstyle]


class _Keys:
    """The operations on one connection, within its transaction."""

    def __init__(self, connection: Any, mark: str, undoable: bool = False) -> None:
        self._connection = connection
        self._mark = mark
        self._undoable = undoable

    def claim(self, claim: Claim) -> Entry | None:
        for _ in range(_CLAIM_TRIES):
            if self._insert(claim):
                return None
            entry = self._entry(claim.key)
            if entry is not None:
                return entry
        raise RuntimeError("the key is claimed and released again and again")

    def finish(self, key: str, answer: Answer) -> None:
        self._change(
            "UPDATE countersign_keys SET state = 'FINISHED', status = ?, content_type = ?, body = ? WHERE idempotency_key = ? AND state = 'CLAIMED'",
            (answer.status, answer.content_type, bytes(answer.body), key),
        )

    def release(self, key: str) -> None:
        self._change("DELETE FROM countersign_keys WHERE idempotency_key = ? AND state = 'CLAIMED'", (key,))

    def forget(self, before: datetime) -> None:
        dropped = f"state = 'FINISHED' AND payload <> '{_WITHDRAWN}' AND payload <> '{_OWN}'"
        _, row = self._execute(f"SELECT MAX(claimed_at) FROM countersign_keys WHERE {dropped} AND claimed_at < ?", (_milliseconds(before),), rows=True)
        if row is None or row[0] is None:
            return
        self.since(datetime.now(timezone.utc))
        self._later(_SINCE, int(row[0]))
        self._execute(f"DELETE FROM countersign_keys WHERE {dropped} AND claimed_at <= ?", (int(row[0]),))

    def look(self, key: str) -> Entry | None:
        return self._entry(key)

    def withdraw(self, key: str, at: datetime) -> Entry:
        for _ in range(_CLAIM_TRIES):
            self._own(key, _WITHDRAWN, at, 410)
            entry = self._entry(key)
            if entry is not None:
                return entry
        raise RuntimeError("the key is claimed and released again and again")

    def since(self, now: datetime) -> datetime:
        known = self._entry(_SINCE)
        if known is None:
            self._own(_SINCE, _OWN, now, 0)
            known = self._entry(_SINCE)  # another process may have been first
        return known.claim.at if known else now

    def restored(self, at: datetime) -> None:
        for key in (_SINCE, _RESTORED):
            self._own(key, _OWN, at, 0)
            self._later(key, _milliseconds(at))

    def savepoint(self) -> None:
        self._execute("SAVEPOINT countersign_effect", ())

    def undo(self) -> None:
        """Goes back to where the handler began."""
        self._execute("ROLLBACK TO SAVEPOINT countersign_effect", ())

    def _own(self, key: str, payload: str, at: datetime, status: int) -> None:
        self._execute(
            "INSERT INTO countersign_keys (idempotency_key, payload, state, claimed_by, claimed_at, status)"
            " VALUES (?, ?, 'FINISHED', '', ?, ?) ON CONFLICT (idempotency_key) DO NOTHING",
            (key, payload, _milliseconds(at), status),
        )

    def _later(self, key: str, milliseconds: int) -> None:
        self._execute("UPDATE countersign_keys SET claimed_at = ? WHERE idempotency_key = ? AND claimed_at < ?", (milliseconds, key, milliseconds))

    def _insert(self, claim: Claim) -> bool:
        count, _ = self._execute(
            "INSERT INTO countersign_keys (idempotency_key, payload, state, claimed_by, claimed_at)"
            " VALUES (?, ?, 'CLAIMED', ?, ?) ON CONFLICT (idempotency_key) DO NOTHING",
            (claim.key, claim.payload, claim.by, _milliseconds(claim.at)),
        )
        if self._undoable:
            _must_be_in_transaction(self._connection)
        return count == 1

    def _entry(self, key: str) -> Entry | None:
        _, row = self._execute(
            "SELECT payload, state, claimed_by, claimed_at, status, content_type, body FROM countersign_keys WHERE idempotency_key = ?", (key,), rows=True
        )
        if row is None:
            return None
        payload, state, by, at, status, content_type, body = row
        claim = Claim(key, payload, by, datetime.fromtimestamp(int(at) / 1000, timezone.utc))
        if payload == _WITHDRAWN:
            return Entry(claim, withdrawn=True)
        return Entry(claim, Answer(status, content_type, bytes(body or b"")) if state == "FINISHED" else None)

    def _change(self, statement: str, parameters: Sequence[Any]) -> None:
        """Changes the row of one claimed key."""
        count, _ = self._execute(statement, parameters)
        if count != 1:
            raise NotClaimed

    def _execute(self, statement: str, parameters: Sequence[Any], rows: bool = False) -> tuple[int, Any]:
        cursor = self._connection.cursor()
        try:
            cursor.execute(statement.replace("?", self._mark), tuple(parameters))
            return cursor.rowcount, cursor.fetchone() if rows else None
        finally:
            cursor.close()


def _milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def _must_be_in_transaction(connection: Any) -> None:
    """Where each statement commits by itself, key and effect would come apart. sqlite3 and
    the drivers of PostgreSQL tell; another driver is believed."""
    within = getattr(connection, "in_transaction", None)
    if within is None:
        status = getattr(getattr(connection, "info", None), "transaction_status", None)
        within = status != 0 if isinstance(status, int) else getattr(connection, "autocommit", False) is not True
    if not within:
        raise RuntimeError("the connection commits each statement by itself: open it without autocommit")
