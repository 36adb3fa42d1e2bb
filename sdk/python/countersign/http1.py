"""HTTP/1.1 as bytes: one request to a connection, and its answer as it arrives.

It does no I/O, so that blocking and asyncio callers have one behavior.
"""

from __future__ import annotations

import re


class BadAnswer(Exception):
    """What came is no answer of HTTP/1.1, or more than is allowed."""


_LARGEST_HEAD = 64 << 10
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: .*)?", re.DOTALL)
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*", re.DOTALL)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?", re.DOTALL)


def request(method: str, authority: str, target: str, headers: dict[str, str], body: bytes | None) -> bytes:
    """Writes a request. The connection is not used again."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {authority}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header must not hold a line break")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + (body or b"")


class Answer:
    """Takes an answer in as it arrives: `feed` gives what came of its body."""

    def __init__(self) -> None:
        self.status = 0
        """0 until the head has come."""
        self.headers: dict[str, str] = {}
        self.complete = False
        self._pending = b""
        self._left: int | None = None  # of the body or the chunk; None: until the connection ends
        self._chunked = False
        self._trailer = False

    def feed(self, data: bytes) -> bytes:
        """Takes bytes as they came from the connection."""
        self._pending += data
        while self.status == 0 and self._head():
            pass
        if self.status == 0 or self.complete:
            return b""
        return self._chunks() if self._chunked else self._plain()

    def end(self) -> None:
        """Says that the connection has ended, which some answers end with."""
        if self.status == 0:
            raise BadAnswer("no answer")
        if self.complete:
            return
        if self._chunked or self._left is not None:
            raise BadAnswer("the answer was cut off")
        self.complete = True

    def _head(self) -> bool:
        """Reads the head once it is there; true where one of the kind 1xx was passed over."""
        head, found, rest = self._pending.partition(b"\r\n\r\n")
        if len(head) > _LARGEST_HEAD:
            raise BadAnswer("the answer's head is too long")
        if not found:
            return False
        first, *lines = head.split(b"\r\n")
        status = _STATUS.fullmatch(first)
        if status is None:
            raise BadAnswer("the answer is none of HTTP/1.1")
        self._pending = rest
        if status[1].startswith(b"1"):
            return True
        self._take(int(status[1]), lines)
        return False

    def _take(self, status: int, lines: list[bytes]) -> None:
        for line in lines:
            header = _HEADER.fullmatch(line)
            if header is None:
                raise BadAnswer("a header of the answer can't be read")
            name, value = header[1].decode("ascii").lower(), header[2].decode("latin-1")
            if name in self.headers and name in ("content-length", "transfer-encoding") and self.headers[name] != value:
                raise BadAnswer("the answer says two lengths")
            self.headers[name] = value
        self.status = status
        coding = self.headers.get("transfer-encoding")
        length = self.headers.get("content-length")
        if status in (204, 304):
            self._left = 0
        elif coding is not None:
            if coding.lower() != "chunked" or length is not None:
                raise BadAnswer("the answer's transfer coding can't be read")
            self._chunked, self._left = True, 0
        elif length is not None:
            if not re.fullmatch(r"[0-9]{1,15}", length):
                raise BadAnswer("the answer's length can't be read")
            self._left = int(length)
        self.complete = self._left == 0 and not self._chunked

    def _plain(self) -> bytes:
        body, self._pending = self._pending, b""
        if self._left is not None:
            body = body[: self._left]
            self._left -= len(body)
            self.complete = self._left == 0
        return body

    def _chunks(self) -> bytes:
        body: list[bytes] = []
        while not self.complete:
            if self._left:
                part = self._pending[: self._left]
                if not part:
                    break
                body.append(part)
                self._pending = self._pending[len(part) :]
                self._left -= len(part)
                if self._left:
                    break
                self._left = None  # its line break is to come
            elif not self._chunk():
                break
        return b"".join(body)

    def _chunk(self) -> bool:
        """Reads the line before a chunk, after one, or of the trailer; false where it isn't there yet."""
        line, found, rest = self._pending.partition(b"\r\n")
        if len(line) > _LARGEST_HEAD:
            raise BadAnswer("a chunk's head is too long")
        if not found:
            return False
        self._pending = rest
        if self._trailer:
            self.complete = line == b""
        elif self._left is None:
            if line:
                raise BadAnswer("a chunk is longer than it says")
            self._left = 0
        else:
            size = _CHUNK.fullmatch(line)
            if size is None:
                raise BadAnswer("a chunk's size can't be read")
            self._left = int(size[1], 16)
            self._trailer = self._left == 0
        return True
