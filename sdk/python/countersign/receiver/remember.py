"""Lets a side effect happen once for each key.

The first call runs the handler; a repeat with the same method, target and body gets the
first answer with `Idempotency-Replayed: true`. Otherwise it is 409: idempotency_conflict
for another payload, in_progress (with Retry-After) while the first one is at work,
in_doubt where nobody knows whether the effect happened. A key in doubt never runs again
by itself: look up what happened, then release or finish it in the store.

What becomes of the key depends on the answer. Below 400 it is remembered: answer so only
with the final state. 4xx frees it: answer so only where nothing happened. 408, 5xx and an
exception, which is passed on, leave it in doubt, for nobody knows whether they came before
or after the effect; `release()` says that it was before. An answer that can't be
remembered, or has more than 1 MiB, isn't given either: 500 not_remembered.
"""

from __future__ import annotations

import itertools
import logging
import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from .. import exactjson
from ..steps import Course
from .answer import MAX_BYTES, Answer, Reply, problem
from .answersigning import AnswerKey
from .signature import Call, body_hash
from .statement import bad_key, is_key
from .store import Claim, Entry, Store, Transactor

_log = logging.getLogger("countersign.receiver")


def log_error(error: BaseException) -> None:
    _log.error("the store of idempotency keys failed", exc_info=error)


@dataclass(frozen=True)
class Remembering:
    """How calls are remembered."""

    store: Store | Transactor
    in_progress: timedelta = timedelta(minutes=2)
    """How long a claim of another process counts as in progress; then it is in doubt. Twice a capability's longest timeout."""
    clock: Callable[[], datetime] = lambda: datetime.now(timezone.utc)
    on_error: Callable[[BaseException], None] = log_error
    """Is told what goes wrong with the store."""
    answer_key: AnswerKey | None = None
    """Signs the answers. Each answer of the handler is then kept before it is signed, 4xx too."""

    def keeps(self, status: int) -> bool:
        """Whether an answer is kept: below 400, and where answers are signed every one that says what was done."""
        return status < 400 or (self.answer_key is not None and status < 500 and status != 408)


@dataclass
class Delivery:
    """A verified call, and what a handler may ask of the kit while it has the effect."""

    call: Call
    body: bytes
    tx: Any = None
    """The connection whose transaction the effect is made in, of a Transactor."""
    released: bool = field(default=False, init=False)

    def json(self) -> Any:
        """The body's value: numbers are int or Decimal. Raises ValueError where it is no JSON."""
        return exactjson.decode(self.body)

    def release(self) -> None:
        """Says, before an exception or an answer 5xx, that the effect has surely not happened: the key is freed."""
        self.released = True


class _Process:
    """Names this process's claims apart from those of others, also after a fork."""

    def __init__(self) -> None:
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self._instance = uuid.uuid4().hex
        self._count = itertools.count(1)
        self.running: dict[str, str] = {}  # claims by their names, to their keys

    def name(self) -> str:
        return f"{self._instance}.{next(self._count)}"

    def at_work(self, key: str) -> bool:
        return key in list(self.running.values())

    def is_at(self, claim: Claim, now: datetime, in_progress: timedelta) -> bool:
        """Whether somebody is still at a claim. Of this process that is known; of another,
        which may have died, it is assumed for a while."""
        if self.has(claim):
            return claim.by in self.running
        return now - claim.at < in_progress

    def has(self, claim: Claim) -> bool:
        return claim.by.startswith(f"{self._instance}.")


_process = _Process()
process = _process


def remembered(how: Remembering, call: Call, body: bytes, handle: Callable[[Delivery], Any], do: Callable[..., Any]) -> Course[Reply]:
    """Answers a call that has a side effect. `handle` gives the Answer and `do` does the
    work of the store; for asyncio both give awaitables."""
    if not is_key(call.idempotency_key):
        return bad_key()
    payload = f"{call.method}\n{call.target}\n{body_hash(body)}".encode("utf-8", "surrogateescape")
    claim = Claim(call.idempotency_key, body_hash(payload), _process.name(), how.clock())
    once = _Once(how, claim, Delivery(call, body), handle, do)
    _process.running[claim.by] = claim.key  # before the claim, which others see at once
    try:
        if isinstance(how.store, Transactor):
            return (yield from once.in_transaction(how.store))
        return (yield from once.run(how.store))
    finally:
        _process.running.pop(claim.by, None)


class _Undo(Exception):
    """Ends a transaction without its effect, and carries what is answered all the same."""

    def __init__(self, reply: Reply) -> None:
        super().__init__("undone")
        self.reply = reply


@dataclass
class _Once:
    """One request on its way through."""

    how: Remembering
    claim: Claim
    delivery: Delivery
    handle: Callable[[Delivery], Any]
    do: Callable[..., Any]
    begun: bool = False
    """Whether the handler was called."""

    def in_transaction(self, store: Transactor) -> Course[Reply]:
        try:
            context = store.transaction()
            tx, keys = yield lambda: self.do(context.__enter__)
        except Exception as error:
            return self._failed(error)
        self.delivery.tx = tx
        try:
            reply = yield from self.run(keys, undoable=True)
        except BaseException as error:
            yield from self._undo(context, error)
            if isinstance(error, _Undo):
                return error.reply
            if not isinstance(error, Exception) or (self.begun and not isinstance(error, _NotFinished)):
                raise
            return self._failed(error)
        try:
            yield lambda: self.do(context.__exit__, None, None, None)
        except Exception as error:
            return self._failed(error)
        return reply

    def run(self, keys: Store, undoable: bool = False) -> Course[Reply]:
        try:
            entry = yield lambda: self.do(keys.claim, self.claim)
            if entry is not None and self._has_ended(entry):
                entry = yield lambda: self.do(keys.claim, self.claim)
        except Exception as error:
            if undoable:
                raise
            return self._failed(error)
        if entry is not None:
            return self._repeat(entry)
        if undoable and self.how.answer_key is not None:
            yield lambda: self.do(keys.savepoint)  # type: ignore[attr-defined]
        self.begun = True
        try:
            answer = _checked((yield lambda: self.handle(self.delivery)))
        except BaseException:
            if self.delivery.released and not undoable:
                yield from self._release(keys)
            raise
        if undoable:
            return (yield from self._commit(keys, answer))
        return (yield from self._settle(keys, answer))

    def _commit(self, keys: Store, answer: Answer) -> Course[Reply]:
        """Keeps what was done in a transaction, or undoes it with the key."""
        if len(answer.body) > MAX_BYTES:
            raise _Undo(self._failed(ValueError("an answer is larger than 1 MiB")))
        if self.delivery.released or not self.how.keeps(answer.status):
            raise _Undo(Reply(answer, unsigned=True))
        try:
            if answer.status >= 400:
                yield lambda: self.do(keys.undo)  # type: ignore[attr-defined]  # its answer is kept, and its effect isn't
            yield lambda: self.do(keys.finish, self.claim.key, answer)
        except Exception as error:
            raise _NotFinished from error
        return Reply(answer)

    def _settle(self, keys: Store, answer: Answer) -> Course[Reply]:
        """Decides what becomes of a key whose effect stands by itself."""
        refused = 400 <= answer.status < 500 and answer.status != 408 and not self.how.keeps(answer.status)
        if self.delivery.released or refused:
            yield from self._release(keys)
        if len(answer.body) > MAX_BYTES:
            return self._failed(ValueError("an answer is larger than 1 MiB"))
        if self.delivery.released or not self.how.keeps(answer.status):
            return Reply(answer, unsigned=True)
        try:
            yield lambda: self.do(keys.finish, self.claim.key, answer)
        except Exception as error:
            return self._failed(error)
        return Reply(answer)

    def _release(self, keys: Store) -> Course[None]:
        """Frees the key. Where that fails it stays in doubt, which is safe."""
        try:
            yield lambda: self.do(keys.release, self.claim.key)
        except Exception as error:
            self.how.on_error(error)

    def _undo(self, context: Any, error: BaseException) -> Course[None]:
        """Rolls back. Where that fails the connection is broken, and the database rolls back itself."""
        try:
            yield lambda: self.do(context.__exit__, type(error), error, error.__traceback__)
        except Exception as other:
            if other is not error:
                self.how.on_error(other)

    def _failed(self, error: BaseException) -> Reply:
        """Answers for a store that could not be asked, or could not remember."""
        self.how.on_error(error.__cause__ or error)
        if not self.begun:
            return problem(503, "unavailable", "the store of idempotency keys could not be asked; nothing was done", Retry_After="1")
        return problem(500, "not_remembered", "the answer could not be remembered, so it is not given: look up what happened under this key")

    def _repeat(self, entry: Entry) -> Reply:
        """Answers a request whose key is taken."""
        if entry.withdrawn:
            message = "this idempotency key was withdrawn before any call under it was seen: nothing was done, and nothing will be"
            return problem(410, "key_withdrawn", message)
        if entry.claim.payload != self.claim.payload:
            return problem(409, "idempotency_conflict", "this idempotency key came with another method, target or body")
        if entry.answer is not None:
            return Reply(entry.answer, {"Idempotency-Replayed": "true"})
        if self._is_at(entry.claim):
            message = "another request under this idempotency key is at work; ask again for its answer"
            return replace(problem(409, "in_progress", message, Retry_After="1"), unsigned=True)
        message = (
            "an earlier request under this idempotency key never came to an end: nobody knows whether it had its effect, "
            "so it is not tried again. Look up what happened"
        )
        return replace(problem(409, "in_doubt", message), unsigned=True)

    def _has_ended(self, entry: Entry) -> bool:
        """A claim of this process that was still there when the store was asked, and whose
        call is over by now: what became of it the store knows."""
        return entry.answer is None and not entry.withdrawn and _process.has(entry.claim) and entry.claim.by not in _process.running

    def _is_at(self, claim: Claim) -> bool:
        return _process.is_at(claim, self.claim.at, self.how.in_progress)


class _NotFinished(Exception):
    """The store could not keep the answer."""


def _checked(answer: Any) -> Answer:
    if not isinstance(answer, Answer):
        raise TypeError(f"a handler must give an Answer, not {type(answer).__name__}")
    if not 200 <= answer.status <= 599:
        raise ValueError(f"{answer.status} is no status of an answer")
    if any(character in answer.content_type for character in "\r\n"):
        raise ValueError("a content type must not hold a line break")
    answer.content_type.encode("latin-1")  # else no server could give it, the first time or ever
    return answer
