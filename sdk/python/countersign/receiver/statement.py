"""What became of a key: questions, and the statements that answer them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from urllib.parse import parse_qs, unquote

from ..steps import Course
from .answer import Answer, Reply, problem
from .store import Entry, Memory

_MAX_KEY = 512  # bytes; keys of Countersign are shorter


@dataclass(frozen=True)
class Statement:
    """The answer to a question about a key."""

    key: str
    state: str
    """DONE, IN_PROGRESS, UNKNOWN, UNSEEN or WITHDRAWN."""
    at: datetime
    since: datetime
    """From this time on the memory has forgotten nothing."""
    answer: Answer | None = None
    """Of DONE."""

    def encoded(self) -> bytes:
        """As it is sent: the body of a kept answer that is JSON stands in it byte for byte."""
        out = b'{"key":' + _quoted(self.key) + b',"state":' + _quoted(self.state)
        if self.state == "DONE" and self.answer is not None:
            out += b',"statusCode":%d' % self.answer.status
            if self.answer.body:
                kept = self.answer.body
                out += b',"body":' + kept if _is_json(kept) else b',"text":' + _quoted(kept.decode("utf-8", "replace"))
        return out + b',"at":' + _quoted(_instant(self.at)) + b',"since":' + _quoted(_instant(self.since)) + b"}"


def _quoted(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogateescape")


def _instant(at: datetime) -> str:
    return at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_json(body: bytes) -> bool:
    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        json.loads(body.decode("utf-8"), parse_int=str, parse_float=str, parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass(frozen=True)
class Question:
    """What is asked about a key."""

    key: str
    withdraw: bool


def is_key(key: str) -> bool:
    """Whether a call may have this key; those that begin with ~ are the stores' own."""
    return len(key.encode("utf-8", "surrogateescape")) <= _MAX_KEY and not key.startswith("~")


def bad_key() -> Reply:
    return problem(400, "invalid_request", f"an idempotency key has at most {_MAX_KEY} bytes, and doesn't begin with ~")


def question_of(settlement: str, method: str, target: str) -> Question | Reply | None:
    """What a request asks, or why one below the settlement's path asks nothing; None for any other."""
    path, _, query = target.partition("?")
    if not settlement or not path.startswith(settlement + "/"):
        return None
    key, *more = (unquote(part) for part in path[len(settlement) + 1 :].split("/"))
    withdraw = more == ["withdraw"]
    if not key or (more and not withdraw):
        return problem(404, "not_found", "below this path there are {key} and {key}/withdraw")
    allow = "POST" if withdraw else "GET"
    if method != allow:
        return problem(405, "method_not_allowed", "a question is a GET, a withdrawal a POST", Allow=allow)
    if not is_key(key):
        return bad_key()
    sent = parse_qs(query, keep_blank_values=True).get("sent", [])
    if len(sent) > 1 or (sent and not re.fullmatch("0|[1-9][0-9]{0,14}", sent[0])):
        return problem(400, "invalid_request", "sent is the time of the first sending, in Unix seconds")
    return Question(key, withdraw)


def stated(
    memory: Memory, question: Question, now: datetime, at_work: Callable[[str], bool], is_at: Callable[[Entry], bool], do: Callable[..., Any]
) -> Course[Reply]:
    """Finds out what is known of a key, and withdraws it if the question says so. A GET tells,
    and changes nothing."""
    since = yield lambda: do(memory.since, now)
    works = at_work(question.key)  # asked first: it may end, and be kept, meanwhile
    entry = yield lambda: do(memory.look, question.key)
    if entry is None and question.withdraw:
        entry = yield lambda: do(memory.withdraw, question.key, now)
    state = "IN_PROGRESS" if works else "UNSEEN"
    if entry is not None and entry.withdrawn:
        state = "WITHDRAWN"
    elif entry is not None and entry.answer is not None:
        state = "DONE"
    elif entry is not None:
        state = "IN_PROGRESS" if is_at(entry) else "UNKNOWN"
    statement = Statement(question.key, state, now, since, entry.answer if entry is not None else None)
    return Reply(Answer(200, "application/json", statement.encoded()))
