"""Keys in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from .answer import Answer
from .store import Claim, Entry, NotClaimed


class MemoryStore:
    """Keeps keys in this process and forgets them when it ends, after which a repeated call
    has its effect again: it is for tests, for trying out, and for effects that can be
    repeated without harm. A server of several processes has as many of it. Beyond a bound
    the oldest FINISHED key goes first; a CLAIMED one is never dropped."""

    def __init__(self, *, max_keys: int = 10_000, max_bytes: int = 64 << 20, max_age: timedelta = timedelta(days=90)) -> None:
        self._max_keys = max_keys
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._lock = threading.Lock()
        self._claimed: dict[str, Claim] = {}
        self._finished: dict[str, Entry] = {}  # in the order of finishing
        self._withdrawn: dict[str, Claim] = {}  # never dropped
        self._restored: datetime | None = None
        self._bytes = 0

    def claim(self, claim: Claim) -> Entry | None:
        with self._lock:
            self._drop(lambda oldest: oldest.claim.at < claim.at - self._max_age)
            known = self._known(claim.key)
            if known is not None:
                return known
            self._make_room()
            self._claimed[claim.key] = claim
            return None

    def look(self, key: str) -> Entry | None:
        with self._lock:
            return self._known(key)

    def withdraw(self, key: str, at: datetime) -> Entry:
        with self._lock:
            known = self._known(key)
            if known is not None:
                return known
            self._make_room()
            self._withdrawn[key] = Claim(key, "", "", at)
            return Entry(self._withdrawn[key], withdrawn=True)

    def since(self, now: datetime) -> datetime:
        """What only this process remembers may have been forgotten up to now."""
        return now

    def restored_at(self) -> datetime | None:
        return self._restored

    def restored(self, at: datetime | None = None) -> None:
        self._restored = at or datetime.now(timezone.utc)

    def _known(self, key: str) -> Entry | None:
        if key in self._claimed:
            return Entry(self._claimed[key])
        if key in self._withdrawn:
            return Entry(self._withdrawn[key], withdrawn=True)
        return self._finished.get(key)

    def _make_room(self) -> None:
        held = len(self._claimed) + len(self._withdrawn)
        self._drop(lambda _: held + len(self._finished) >= self._max_keys)
        if held >= self._max_keys:
            raise RuntimeError("the store is full of claimed keys")

    def finish(self, key: str, answer: Answer) -> None:
        with self._lock:
            kept = replace(answer, body=bytes(answer.body))
            self._finished[key] = Entry(self._take(key), kept)
            self._bytes += len(kept.body)
            self._drop(lambda _: self._bytes > self._max_bytes and len(self._finished) > 1)

    def release(self, key: str) -> None:
        with self._lock:
            self._take(key)

    def _take(self, key: str) -> Claim:
        if key not in self._claimed:
            raise NotClaimed
        return self._claimed.pop(key)

    def _drop(self, must: Callable[[Entry], bool]) -> None:
        """Forgets finished keys, the oldest first, as long as one must go."""
        while self._finished:
            key, oldest = next(iter(self._finished.items()))
            if not must(oldest):
                return
            del self._finished[key]
            self._bytes -= len(oldest.answer.body) if oldest.answer else 0
