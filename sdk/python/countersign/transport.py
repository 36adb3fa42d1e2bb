"""Sends calls over sockets and waits for their answers."""

from __future__ import annotations

import errno
import socket
import ssl
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

from . import http1
from .calls import Call, Reply, refusal, repeated
from .deadline import Patience
from .errors import CountersignConnectionError
from .options import Settings
from .steps import run

READ = 64 << 10


class Transport:
    """Sends requests to one origin, each on a connection of its own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def send(self, call: Call) -> Any:
        return run(repeated(call, self.settings, self._exchange, time.sleep, Reply.value))

    def raw(self, call: Call) -> bytes:
        """The bytes of an answer, as they came."""
        return run(repeated(call, self.settings, self._exchange, time.sleep, Reply.raw))

    def stream(self, call: Call, patience: Patience) -> Generator[bytes, None, None]:
        """An answer that goes on, part by part."""
        answer = http1.Answer()
        with closing(self._received(call, call.message(self.settings), patience, answer)) as parts:
            first = next(parts, b"")
            if not 200 <= answer.status < 300:
                raise refusal(Reply(answer.status, answer.headers, first + whole(parts, self.settings.max_answer_bytes)))
            if first:
                yield first
            yield from parts

    def _exchange(self, call: Call, message: bytes) -> Reply:
        answer = http1.Answer()
        patience = Patience(whole=(call.timeout or self.settings.timeout) + call.more)
        with closing(self._received(call, message, patience, answer)) as parts:
            body = whole(parts, self.settings.max_answer_bytes)
        return Reply(answer.status, answer.headers, body)

    def _received(self, call: Call, message: bytes, patience: Patience, answer: http1.Answer) -> Generator[bytes, None, None]:
        """The parts of an answer's body as they come. The head has come before the first."""
        try:
            with self._connected(patience) as connection:
                connection.settimeout(patience.left())
                connection.sendall(message)
                while not answer.complete:
                    connection.settimeout(patience.left())
                    data = connection.recv(READ)
                    patience.heard()
                    part = answer.feed(data)
                    if not data:
                        answer.end()
                    if part:
                        yield part
        except (OSError, http1.BadAnswer) as error:
            raise explain(error, call, self.settings) from None

    def _connected(self, patience: Patience) -> socket.socket:
        settings = self.settings
        connection = socket.create_connection((settings.host, settings.port), timeout=patience.left())
        try:
            if settings.ssl_context is None:
                return connection
            connection.settimeout(patience.left())
            return settings.ssl_context.wrap_socket(connection, server_hostname=settings.host)
        except BaseException:
            connection.close()
            raise


def whole(parts: Iterator[bytes], most: int) -> bytes:
    """All parts of a body, of which no more is read than is allowed."""
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > most:
            raise too_large(most)
    return bytes(body)


def too_large(most: int) -> CountersignConnectionError:
    return CountersignConnectionError(f"the answer is larger than {most} bytes (max_answer_bytes)")


def explain(error: Exception, call: Call, settings: Settings) -> CountersignConnectionError:
    """One of our errors for what broke; of a foreign text nothing is kept."""
    if isinstance(error, TimeoutError):
        why = "no whole answer in time"
    elif isinstance(error, http1.BadAnswer):
        why = str(error)
    elif isinstance(error, ssl.SSLCertVerificationError):
        why = f"the certificate is not accepted: {error.verify_message}"
    elif isinstance(error, ssl.SSLError):
        why = "no secure connection"
    elif isinstance(error, socket.gaierror):
        why = "the host's name can't be resolved"
    else:
        code = errno.errorcode.get(error.errno or 0) if isinstance(error, OSError) else None
        why = f"no answer ({code})" if code else "no answer that can be read"
    return CountersignConnectionError(f"{call.method} {settings.origin}{call.target(settings)}: {why}")
