"""Reads the JSON of an answer, as exactly as the service does: what another reader could take for
something else is none."""

from __future__ import annotations

import json
import re
from typing import Any

from .canonical import Digits, Json
from .values import plain_number

_MAX_DEPTH = 64
_MAX_EXPONENT = 9
_BLANK = re.compile(r"[ \t\r\n]*")
_NAME = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)


class Unreadable(ValueError):
    """It is no exact JSON."""


def read_answer(body: bytes) -> Json:
    """The value of a body, None where there is nothing in it."""
    try:
        text = body.decode("utf-8").removeprefix("\ufeff")
        if _BLANK.fullmatch(text):
            return None
        value = json.loads(text, parse_int=_digits, parse_float=_digits, parse_constant=_refused, object_pairs_hook=_unique)
        _exact(value, 0)
    except (ValueError, RecursionError) as problem:
        raise Unreadable(str(problem)) from problem
    return value


def says_error(body: bytes, *codes: str) -> bool:
    """Whether its `error` is one of these codes, however it goes on behind it."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    opening = re.match(r"[ \t\r\n]*\{", text)
    at = opening.end() if opening else -1
    while at >= 0:
        name = _NAME.match(text, at)
        if name is None:
            return False
        try:
            member = json.loads(name[1])
            value, at = decoder.raw_decode(text, name.end())
        except (ValueError, RecursionError):
            return False
        if member == "error" and isinstance(value, (dict, list)):
            return False
        if member == "error" and isinstance(value, str) and value in codes and text[name.end()] == '"':
            return True
        comma = re.compile(r"[ \t\r\n]*,").match(text, at)
        at = comma.end() if comma else -1
    return False


def _digits(text: str) -> Digits:
    power = re.search(r"[eE][+-]?0*([0-9]*)$", text)
    if power is not None and len(power[1]) > _MAX_EXPONENT:
        raise Unreadable("the exponent of a number is too long")
    return Digits(plain_number(text))


def _refused(text: str) -> Any:
    raise Unreadable(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unreadable("a key stands twice")
    return found


def _exact(value: Json, depth: int) -> None:
    """No lone surrogates, and not too deep."""
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, (dict, list)):
        if depth >= _MAX_DEPTH:
            raise Unreadable("it is nested too deep")
        for name in value if isinstance(value, dict) else ():
            name.encode("utf-8")
        for inner in value.values() if isinstance(value, dict) else value:
            _exact(inner, depth + 1)
