"""Server-sent events."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from .errors import CountersignConnectionError

_LONGEST = 8 << 20  # characters without the end of an event


@dataclass(frozen=True)
class Event:
    id: str
    event: str
    data: str


class Events:
    """Reads a stream of events as it arrives: fields by line, an event at each blank
    line, comments passed over. An event that the stream cuts off is none."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._held: list[str] = []  # joined once a line ends: a long line costs its length, not its square
        self._id = ""
        self._event = "message"
        self._data: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Event]:
        text = self._decoder.decode(data)
        self._grow(len(text))
        after_cr = bool(self._held) and self._held[-1].endswith("\r")
        self._held.append(text)
        if not after_cr and "\n" not in text and "\r" not in text:
            return []
        *lines, rest = re.split(r"\r\n|\n|\r(?!\Z)", "".join(self._held))
        self._held = [rest] if rest else []
        return [event for line in lines if (event := self._line(line)) is not None]

    def _line(self, line: str) -> Event | None:
        if line == "":
            event = Event(self._id, self._event, "\n".join(self._data)) if self._data else None
            self._clear()
            return event
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        return None

    def _clear(self) -> None:
        """Begins an event. An id holds until the next one."""
        self._event = "message"
        self._data = []
        self._size = 0

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > _LONGEST:
            raise CountersignConnectionError("an event is too long")
