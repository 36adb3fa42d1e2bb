"""A record of the log. None of its numbers is looked at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Record:
    members: dict[str, Any]
    seq: int = -1
    """Its place in the log."""

    def word(self, name: str) -> str:
        value = self.members.get(name)
        return value if isinstance(value, str) else ""

    def child(self, name: str) -> Record | None:
        """An object in it; None for what is missing, and an empty one for anything else."""
        value = self.members.get(name)
        return None if value is None else Record(value if isinstance(value, dict) else {})


def read(leaf: str, seq: int) -> Record:
    try:
        value = json.loads(leaf, parse_int=len, parse_float=len, parse_constant=_constant)
    except (ValueError, RecursionError):
        value = None
    return Record(value if isinstance(value, dict) else {}, seq)


def _constant(text: str) -> Any:
    raise ValueError(text)


def done(record: Record, **wanted: str) -> bool:
    """Something that was done, with these words."""
    return record.word("outcome") == "done" and all(record.word(name) == value for name, value in wanted.items())
