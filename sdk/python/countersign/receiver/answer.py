"""What a project's API answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .. import exactjson

MAX_BYTES = 1 << 20
"""Of the body of a call, and of an answer that is remembered."""


@dataclass(frozen=True)
class Answer:
    """What a handler answers, and what is remembered of it."""

    status: int
    content_type: str = ""
    """Empty where there is no body."""
    body: bytes = b""


@dataclass(frozen=True)
class Reply:
    """An answer with the headers that the kit adds."""

    answer: Answer
    headers: Mapping[str, str] = field(default_factory=dict)
    unsigned: bool = False
    """It says nothing of what was done, so it isn't signed."""


def json_answer(status: int, value: object) -> Answer:
    """An answer with a JSON body, whose numbers keep their digits."""
    return Answer(status, "application/json", exactjson.encode(value))


def problem(status: int, error: str, message: str, **headers: str) -> Reply:
    """An answer of the kit's own: {"error": code, "message": text}."""
    return Reply(json_answer(status, {"error": error, "message": message}), {name.replace("_", "-"): value for name, value in headers.items()})
