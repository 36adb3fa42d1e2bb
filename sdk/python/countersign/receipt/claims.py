"""The sections of a receipt as values, and how their members are read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from .canonical import Digits, Json


@dataclass(frozen=True)
class Claims:
    approvals: Json
    audit: Json
    plan: Json
    requests: Json
    run: Json
    statement: Json
    format: str
    signed: Callable[[bytes, bytes], bool]
    """Whether a text has a signature by the key of the receipt."""

    @property
    def masked(self) -> bool:
        return at(self.statement, "masked") is True

    @property
    def redacted(self) -> bool:
        return at(self.statement, "redacted") is True

    @property
    def live(self) -> bool:
        return of(self.run, "mode") == "LIVE"

    @property
    def steps(self) -> list[Json]:
        return items(at(self.run, "steps"))


def sha256(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


# What is missing, or of another type, reads as nothing.


def at(value: Json, name: str) -> Json:
    return value.get(name) if isinstance(value, dict) else None


def has(value: Json, name: str) -> bool:
    return isinstance(value, dict) and name in value


def text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def of(value: Json, name: str) -> str:
    """A member that is text."""
    return text(at(value, name))


def items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def members(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def digits(value: Json) -> str:
    return value.text if isinstance(value, Digits) else ""


def whole(value: Json) -> int:
    """A number that counts something, below 10^15; -1 for anything else."""
    return int(digits(value)) if re.fullmatch(r"[0-9]{1,15}", digits(value)) else -1
