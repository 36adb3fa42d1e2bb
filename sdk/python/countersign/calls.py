"""A call of the API: how it is asked, when it is asked again, and what its answer means."""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from . import exactjson, http1
from .errors import CountersignConnectionError, CountersignError
from .options import Settings
from .steps import Course

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """One operation with its arguments."""

    method: str
    path: tuple[str, ...]
    """Below the prefix; each is escaped."""
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    idempotency_key: str | None = None
    timeout: float | None = None
    more: float = 0
    """Seconds that the service may take longer than usual, since it was asked to wait."""
    headers: Mapping[str, str] = field(default_factory=dict)
    accept: str = "application/json"
    prefixed: bool = True
    repeats: bool = False
    """It may be asked again though it has no key."""

    @property
    def repeatable(self) -> bool:
        """Reads, and run starts: their key finds the run that an earlier attempt may have started."""
        return self.method == "GET" or self.idempotency_key is not None or self.repeats

    def target(self, settings: Settings) -> str:
        path = "".join("/" + _segment(part) for part in self.path)
        pairs = {name: _text(value) for name, value in self.query.items() if value is not None}
        return (settings.prefix if self.prefixed else "") + path + (f"?{urlencode(pairs, quote_via=quote)}" if pairs else "")

    def message(self, settings: Settings) -> bytes:
        headers = {**self.headers, "Accept": self.accept, "Authorization": f"Bearer {settings.token}"}
        body = None if self.body is None else exactjson.encode(self.body)
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self.idempotency_key is not None:
            headers["Idempotency-Key"] = self.idempotency_key
        if body is None and self.method not in ("GET", "DELETE"):
            body = b""
        return http1.request(self.method, settings.authority, self.target(settings), headers, body)


def _segment(part: str) -> str:
    """Escapes one part of a path; what could climb out of it is refused."""
    if not isinstance(part, str) or part in ("", ".", ".."):
        raise ValueError("an id must not be empty, `.` or `..`")
    return quote(part, safe="")


def _text(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def key_of(idempotency_key: str | None) -> str:
    """The key of a start: the caller's, or one that no other call has."""
    key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
    if not re.fullmatch(r"[\x21-\x7e]{1,255}", key):
        raise ValueError("idempotency_key: it must be 1 to 255 visible ASCII characters")
    return key


@dataclass(frozen=True)
class Reply:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def value(self) -> Any:
        try:
            return exactjson.decode(self.body.decode())
        except ValueError:
            raise CountersignConnectionError(f"the answer {self.status} is no JSON", status=self.status) from None

    def raw(self) -> bytes:
        return self.body


def refusal(reply: Reply) -> CountersignError | CountersignConnectionError:
    """The error of an answer that is no success. Only the service's own Error body says
    what became of the request; a proxy's page says nothing of it."""
    status = reply.status
    if 300 <= status < 400:
        return CountersignConnectionError(f"answered with a redirect ({status}), which is not followed", status=status)
    try:
        body = exactjson.decode(reply.body.decode())
        code, message = body["error"], body["message"]
    except (ValueError, TypeError, KeyError):
        code = message = None
    if not isinstance(code, str) or not isinstance(message, str):
        return CountersignConnectionError(f"the answer {status} is not one of the service", status=status)
    request_id = body.get("requestId") or reply.headers.get("x-request-id")
    wait = reply.headers.get("retry-after", "")
    retry_after = int(wait) if re.fullmatch(r"[0-9]{1,9}", wait) else None
    return CountersignError(code, message, status=status, request_id=request_id, retry_after=retry_after)


_LONGEST_WAIT = 30  # seconds; a longer wait is the caller's to decide about
_FIRST_PAUSE = 0.2


def retry_delay(error: BaseException, repeatable: bool, attempt: int) -> float | None:
    """How many seconds to wait before a request is sent again; None: it isn't. A write
    that has no key is repeated only where the service itself says that it did nothing
    and when to come back: after a broken connection nobody knows what it did."""
    pause = _FIRST_PAUSE * 2**attempt * (0.5 + random.random() / 2)
    if isinstance(error, CountersignConnectionError):
        return pause if repeatable else None
    if not isinstance(error, CountersignError) or error.status != 503:
        return None
    if error.retry_after is None:
        return pause if repeatable else None
    return max(error.retry_after, pause) if error.retry_after <= _LONGEST_WAIT else None


def repeated(
    call: Call, settings: Settings, exchange: Callable[[Call, bytes], Any], sleep: Callable[[float], Any], take: Callable[[Reply], T]
) -> Course[T]:
    """Sends a call, and sends the same bytes again where that is safe. Any refusal is raised."""
    message = call.message(settings)
    attempt = 0
    while True:
        try:
            reply: Reply = yield lambda: exchange(call, message)
            if not 200 <= reply.status < 300:
                raise refusal(reply)
            return take(reply)
        except (CountersignError, CountersignConnectionError) as error:
            delay = retry_delay(error, call.repeatable, attempt) if attempt < settings.retries else None
            if delay is None:
                error.idempotency_key = call.idempotency_key
                raise
        attempt += 1
        pause = delay
        yield lambda: sleep(pause)
