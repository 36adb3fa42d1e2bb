"""How a call is signed. The same vectors check this, the Go and the TypeScript definition."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

KEY = "Idempotency-Key"
RUN = "X-Runtime-Run-Id"
STEP = "X-Runtime-Step-Id"
TIMESTAMP = "X-Runtime-Timestamp"
SIGNATURE = "X-Runtime-Signature"

HeadersIn = Mapping[str, "str | Sequence[str]"] | Iterable[tuple[str, str]]
"""By name, or as pairs, where a repeated one shows."""

_SENTENCES = {
    "no_secret": "this receiver has no secret to verify with, or an empty one: set it",
    "missing_header": "each runtime header must be there once, with a value",
    "line_break": "no signed part may hold a line break",
    "timestamp": "the timestamp must be Unix seconds, close to this receiver's clock: compare the clocks",
    "signature": "the signature doesn't match: compare the secrets, and sign the target and the raw body as they are sent",
}


class SignatureError(Exception):
    """A call that is not accepted. The text may be shown to the caller."""

    def __init__(self, reason: str, header: str = "") -> None:
        super().__init__(f"{reason}: {_SENTENCES[reason]}{': ' + header if header else ''}")
        self.reason = reason


@dataclass(frozen=True)
class Call:
    """What a verified request says of itself; nothing in it can be forged without the secret."""

    method: str
    target: str
    run_id: str
    step_id: str
    idempotency_key: str
    """`<run id>.<step id>`, the same for the life of the step."""
    sent_at: datetime


def verify_signature(
    *,
    secrets: Sequence[str | bytes],
    method: str,
    target: str,
    headers: HeadersIn,
    body: bytes,
    now: float | None = None,
    window_seconds: float = 300,
) -> Call:
    """Gives the call that a request is, or raises SignatureError: it was not signed with
    one of the secrets, or not just now. `secrets` are those that are accepted: one, or
    two while the secret is changed. `target` is path and query exactly as they came,
    `body` the raw bytes. The rules are tried in the order no_secret, missing_header,
    line_break, signature, timestamp."""
    if not has_secrets(secrets):
        raise SignatureError("no_secret")
    header = _headers(headers)
    parts = [method, target, header[TIMESTAMP], header[KEY], header[RUN], header[STEP], body_hash(body)]
    if any("\r" in part or "\n" in part for part in parts):
        raise SignatureError("line_break")
    if not _matches_any(secrets, "\n".join(parts).encode("utf-8", "surrogateescape"), header[SIGNATURE]):
        raise SignatureError("signature")
    if not re.fullmatch(r"0|-?[1-9][0-9]{0,15}", header[TIMESTAMP]):
        raise SignatureError("timestamp")
    sent = int(header[TIMESTAMP])
    if not abs((time.time() if now is None else now) - sent) <= window_seconds:
        raise SignatureError("timestamp")
    return Call(method, target, header[RUN], header[STEP], header[KEY], datetime.fromtimestamp(sent, timezone.utc))


def has_secrets(secrets: Sequence[str | bytes]) -> bool:
    """A text alone would be as many secrets as it has characters."""
    if isinstance(secrets, (str, bytes)):
        raise TypeError("secrets: give a list of secrets")
    return len(secrets) > 0 and all(len(secret) > 0 for secret in secrets)


def body_hash(body: bytes) -> str:
    """The lowercase hex SHA-256 of the raw body."""
    return hashlib.sha256(body).hexdigest()


def _matches_any(secrets: Sequence[str | bytes], text: bytes, signature: str) -> bool:
    """Compares with every secret, each in constant time."""
    if not re.fullmatch(r"sha256=[0-9a-f]{64}", signature):
        return False
    matches = False
    for secret in secrets:
        key = secret.encode("utf-8", "surrogateescape") if isinstance(secret, str) else secret
        want = hmac.new(key, text, hashlib.sha256).hexdigest()
        matches = hmac.compare_digest(want, signature[len("sha256=") :]) or matches
    return matches


def _headers(headers: HeadersIn) -> dict[str, str]:
    """A header that comes twice is refused: who reads the first and who reads the last would see two calls."""
    found: dict[str, list[str]] = {}
    for name, value in headers.items() if isinstance(headers, Mapping) else headers:
        found.setdefault(name.lower(), []).extend([value] if isinstance(value, str) else value)
    once: dict[str, str] = {}
    for name in (KEY, RUN, STEP, TIMESTAMP, SIGNATURE):
        values = found.get(name.lower(), [])
        if len(values) != 1 or values[0] == "":
            raise SignatureError("missing_header", name)
        once[name] = values[0]
    return once
