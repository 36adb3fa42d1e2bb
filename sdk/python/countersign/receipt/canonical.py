"""Reads JSON in its canonical form and in no other. Numbers stay the digits that they were
written with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NoReturn

from .failure import fail


@dataclass(frozen=True)
class Digits:
    """A number, as its text."""

    text: str


Json = Any
"""None, bool, str, Digits, list or dict."""

_MAX_DEPTH = 128
MAX_PLAIN_ZEROS = 20

_STRING = re.compile(r'"([^"\\\x00-\x1f]*(?:\\(?:["\\nrt]|u00(?:0[0-8bcef]|1[0-9a-f]))[^"\\\x00-\x1f]*)*)"')
_ESCAPE = re.compile(r"\\(?:u00(..)|(.))")
_SHORT = {"n": "\n", "r": "\r", "t": "\t"}
_NUMBER = re.compile(r"0(?![0-9.eE])|-?[1-9][0-9]*(?:e(-?[1-9][0-9]{0,17}))?(?![0-9.eE+-])")


def _character(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _SHORT.get(escape[2], escape[2])


def canonical(section: bytes, name: str) -> Json:
    """Reads a section, which fails where it is not in canonical form."""
    try:
        text = section.decode("utf-8")
    except UnicodeDecodeError:
        fail(name, "it is not in canonical form")
    reader = _Reader(text, name)
    value = reader.value(0)
    return value if reader.ended() else reader.refuse()


class _Reader:
    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._at = 0

    def refuse(self) -> NoReturn:
        fail(self._name, "it is not in canonical form")

    def ended(self) -> bool:
        return self._at == len(self._text)

    def value(self, depth: int) -> Json:
        first = self._text[self._at : self._at + 1]
        if first in ("{", "["):
            if depth >= _MAX_DEPTH:
                self.refuse()
            return self._object(depth + 1) if first == "{" else self._array(depth + 1)
        if first == '"':
            return self._string()
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self._take(word):
                return value
        return self._number()

    def _take(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        if found:
            self._at += len(text)
        return found

    def _object(self, depth: int) -> dict[str, Json]:
        """Its keys ascend by their UTF-8 bytes, so that none comes twice."""
        members: dict[str, Json] = {}
        self._at += 1
        if self._take("}"):
            return members
        last: bytes | None = None
        while True:
            if not self._text.startswith('"', self._at):
                self.refuse()
            key = self._string()
            encoded = key.encode()
            if last is not None and last >= encoded:
                self.refuse()
            last = encoded
            if not self._take(":"):
                self.refuse()
            members[key] = self.value(depth)
            if not self._take(","):
                return members if self._take("}") else self.refuse()

    def _array(self, depth: int) -> list[Json]:
        items: list[Json] = []
        self._at += 1
        if self._take("]"):
            return items
        while True:
            items.append(self.value(depth))
            if not self._take(","):
                return items if self._take("]") else self.refuse()

    def _string(self) -> str:
        """Only what must be escaped is, each in one way."""
        found = _STRING.match(self._text, self._at)
        if found is None:
            self.refuse()
        self._at = found.end()
        return found[1] if "\\" not in found[1] else _ESCAPE.sub(_character, found[1])

    def _number(self) -> Digits:
        """An integer, or one without a last zero and a power of ten: see the specification."""
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            self.refuse()
        text, power = found[0], found[1]
        digits = text.split("e")[0]
        zeros = 0 if digits == "0" else len(digits) - len(digits.rstrip("0"))
        if power is None:
            plain = zeros <= MAX_PLAIN_ZEROS
        else:
            plain = zeros == 0 and (power.startswith("-") or int(power) > MAX_PLAIN_ZEROS)
        if not plain:
            self.refuse()
        self._at = found.end()
        return Digits(text)
