"""How long an answer may take."""

from __future__ import annotations

import time
from collections.abc import Callable


class Patience:
    """How long to wait for the next bytes: `first` seconds for the first, `quiet` for any
    others, and `whole` for all together."""

    def __init__(
        self, *, whole: float | None = None, first: float | None = None, quiet: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._end = None if whole is None else clock() + whole
        self._quiet = quiet
        self._next = None if first is None else clock() + first

    def heard(self) -> None:
        """Says that bytes came."""
        self._next = None if self._quiet is None else self._clock() + self._quiet

    def left(self) -> float | None:
        """Seconds; None: as long as it takes. Raises TimeoutError once the time is over."""
        ends = [end for end in (self._end, self._next) if end is not None]
        if not ends:
            return None
        left = min(ends) - self._clock()
        if left <= 0:
            raise TimeoutError
        return left
