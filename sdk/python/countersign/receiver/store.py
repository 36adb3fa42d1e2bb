"""What remembers calls by their idempotency keys."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from .answer import Answer


@dataclass(frozen=True)
class Claim:
    """A request that wants a key."""

    key: str
    """The idempotency key; no two that differ in a byte are the same."""
    payload: str
    """Lowercase hex SHA-256 over method, target and body hash."""
    by: str
    """Which request of which process claims."""
    at: datetime


@dataclass(frozen=True)
class Entry:
    """What a store knows of a key: the claim that got it, and its answer once it is FINISHED."""

    claim: Claim
    answer: Answer | None = None
    """None: CLAIMED."""
    withdrawn: bool = False
    """The key was withdrawn before any call under it was seen."""


class NotClaimed(Exception):
    """finish or release of a key that isn't CLAIMED."""

    def __init__(self) -> None:
        super().__init__("the key is not claimed")


class Store(Protocol):
    """Remembers what was asked and answered under each key, for many threads at once and,
    where it outlives the process, for several processes. Its law:

    A change that came back is durable to the store's degree and seen by whoever asks
    after it. No key is forgotten while it is CLAIMED. FINISHED keys are kept 90 days or
    more: one that is forgotten can be claimed again, and the effect happens twice.
    """

    def claim(self, claim: Claim) -> Entry | None:
        """Makes an unknown key CLAIMED and gives None. Of any number of claims at once one
        gets it; the others get the entry as it is."""

    def finish(self, key: str, answer: Answer) -> None:
        """Makes a CLAIMED key FINISHED; later claims get this answer byte for byte. Raises
        NotClaimed for any other key."""

    def release(self, key: str) -> None:
        """Forgets a CLAIMED key: for whoever knows that the effect did not happen. Raises
        NotClaimed for any other key."""


@runtime_checkable
class Memory(Protocol):
    """A store that can say what became of a key; a receiver with a `settlement` needs one."""

    def look(self, key: str) -> Entry | None:
        """The entry of a key, if there is one. It changes nothing."""

    def withdraw(self, key: str, at: datetime) -> Entry:
        """Makes an unknown key withdrawn, for ever, and gives the entry as it then is. It is one
        insert-or-nothing on what decides a claim, too, committed before it comes back. While a
        transaction has claimed the key it waits for that to end, or raises."""

    def since(self, now: datetime) -> datetime:
        """The time from which on the store has forgotten no key: its making, the claim of the
        newest that was dropped, a declared restore."""

    def restored_at(self) -> datetime | None:
        """The time of the latest declared restore."""

    def restored(self, at: datetime | None = None) -> None:
        """Declares that the store was set back at this time, by a restore or a failover that may
        lack commits. Call it before the API comes up: calls are then taken only after 10 minutes.
        Nothing can find this out by itself."""


@runtime_checkable
class Transactor(Protocol):
    """Remembers a key in the transaction of its effect."""

    def transaction(self) -> AbstractContextManager[tuple[Any, Store]]:
        """The transaction and the store inside it. What was done is committed where the
        context ends without an exception, and undone otherwise."""
