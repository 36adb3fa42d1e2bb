"""Who gets in: what every kind of server does with a request before a handler sees it."""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from ..steps import Course
from .answer import MAX_BYTES, Answer, Reply, problem
from .answersigning import AnswerKey, signature_of, signed_reply
from .remember import Remembering, log_error, process
from .signature import Call, HeadersIn, SignatureError, has_secrets, verify_signature
from .statement import Question, question_of, stated
from .store import Memory, Store, Transactor

_remembering: weakref.WeakSet[Any] = weakref.WeakSet()  # stores that keep since when they forget nothing


@dataclass(frozen=True)
class Gate:
    """What a receiver is made of."""

    secrets: Sequence[str | bytes]
    """Those that are accepted: one, or two while the secret is changed."""
    store: Store | Transactor
    window_seconds: float = 300
    """How far a call's timestamp may be from now, both ways."""
    in_progress: timedelta = timedelta(minutes=2)
    """How long a claim of another process counts as in progress; then it is in doubt."""
    clock: Callable[[], float] = time.time
    """Unix seconds."""
    on_error: Callable[[BaseException], None] = log_error
    """Is told what goes wrong with the store; default: the log countersign.receiver."""
    answer_key: AnswerKey | None = None
    """Signs the answers, so that Countersign and whoever verifies a receipt know that they are
    this API's own. The project has its public half in answerKeys. One key belongs to one store."""
    settlement: str = ""
    """The path below which questions about keys are answered, such as "/settlement"; the project
    has it as settlement.path. It needs an answer_key, and a store that is a Memory."""

    def __post_init__(self) -> None:
        if not has_secrets(self.secrets):
            raise ValueError("secrets: there is none, or an empty one; is the environment variable set?")
        if not self.settlement:
            return
        if self.answer_key is None:
            raise ValueError("settlement: it needs an answer_key")
        if not isinstance(self.store, Memory):
            raise ValueError("settlement: it needs a store that is a Memory")
        if not self.settlement.startswith("/") or self.settlement.endswith("/"):
            raise ValueError("settlement: it is a path, such as /settlement")

    @property
    def remembering(self) -> Remembering:
        return Remembering(self.store, self.in_progress, lambda: datetime.fromtimestamp(self.clock(), timezone.utc), self.on_error, self.answer_key)

    def signs(self, method: str) -> bool:
        """Whether the answer to a read is held back until it can be signed."""
        return self.answer_key is not None and method == "GET"

    def signed(self, call: Call, body: bytes, reply: Reply) -> Reply:
        """A reply to a verified call as it is sent."""
        return signed_reply(self.answer_key, call, body, reply, self.clock())

    def signature(self, call: Call, body: bytes, reply: Reply) -> str:
        """The X-Runtime-Answer of a reply; empty for none."""
        return "" if reply.unsigned else signature_of(self.answer_key, call, body, reply.answer, self.clock())

    def read(self, answer: Answer) -> Reply:
        """The reply to a read whose answer is signed."""
        if len(answer.body) > MAX_BYTES:
            return problem(500, "too_large", "an answer of more than 1 MiB can't be signed, so it is not given")
        return Reply(answer)

    def aside(self, call: Call, body: bytes, do: Callable[..., Any]) -> Course[Reply | None]:
        """Answers what never reaches the handler: a question about a key, and a call that comes
        too early after a restore."""
        now = datetime.fromtimestamp(self.clock(), timezone.utc)
        if not isinstance(self.store, Memory):
            return None
        store: Memory = self.store
        question = question_of(self.settlement, call.method, call.target)
        reads = not has_effect(call.method)
        try:
            if question is not None:
                if isinstance(question, Question):
                    reply: Reply = yield from stated(store, question, now, process.at_work, lambda entry: process.is_at(entry.claim, now, self.in_progress), do)
                else:
                    reply = question
                return self.signed(call, body, replace(reply, headers={**reply.headers, "Cache-Control": "no-store"}))
            restored = yield lambda: do(store.restored_at)
            if not reads and self.answer_key is not None and store not in _remembering:
                yield lambda: do(store.since, now)  # kept from the first call on, not from the first question
                _remembering.add(store)
        except Exception as error:
            self.on_error(error)
            if reads and question is None:
                return None
            return problem(503, "unavailable", "the store of idempotency keys could not be asked; nothing was done", Retry_After="1")
        wait = restored.timestamp() + 2 * self.window_seconds - self.clock() if restored else 0
        if wait <= 0:
            return None
        message = "what this API remembers was restored: it takes calls again when each call of before is too old; nothing was done"
        return problem(503, "unavailable", message, Retry_After=str(math.ceil(wait)))

    def admit(self, method: str, target: str, headers: HeadersIn, body: bytes) -> Call | Reply:
        """The verified call, or the answer that refuses it."""
        try:
            return verify_signature(
                secrets=self.secrets,
                method=method,
                target=target,
                headers=headers,
                body=body,
                now=self.clock(),
                window_seconds=self.window_seconds,
            )
        except SignatureError as error:
            return problem(401, error.reason, str(error))


def has_effect(method: str) -> bool:
    """Whether a call can have a side effect; what can't is not remembered."""
    return method not in ("GET", "HEAD")


def too_large() -> Reply:
    return problem(413, "payload_too_large", "a body has at most 1 MiB", Connection="close")
