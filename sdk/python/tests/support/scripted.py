"""A server that answers each connection by the next of its replies, the last for ever."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass
from typing import Any

CUT = b""
"""The connection ends without an answer."""


def answering(status: int, body: Any, **headers: str) -> bytes:
    text = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(text)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + text


def refused(status: int, code: str, **headers: str) -> bytes:
    return answering(status, {"error": code, "message": f"it is {code}", "requestId": "req-12345678"}, **headers)


@dataclass
class Seen:
    line: str
    headers: dict[str, str]
    body: bytes


class Scripted:
    """Listens until its context ends. None as a reply: it never comes."""

    def __init__(self, *replies: bytes | None) -> None:
        self._replies = replies
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._held: list[socket.socket] = []
        self.seen: list[Seen] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Scripted:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        for connection in self._held:
            connection.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.seen.append(_read(connection))
            reply = self._replies[min(len(self.seen), len(self._replies)) - 1]
            if reply is None:
                self._held.append(connection)
                continue
            connection.sendall(reply)
            connection.close()


def _read(connection: socket.socket) -> Seen:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(4096)
    head, _, body = data.partition(b"\r\n\r\n")
    line, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(4096)
    return Seen(line, headers, body)
