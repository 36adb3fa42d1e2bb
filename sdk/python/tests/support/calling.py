"""One way to call both clients."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from countersign import AsyncCountersign, Countersign


@dataclass(frozen=True)
class Caller:
    make: Callable[..., Any]
    call: Callable[[Callable[[], Any]], Any]
    """Gives what a method comes to."""
    collect: Callable[[Callable[[], Any]], list[Any]]
    """Gives all that a listing or a stream yields."""


def _run(work: Callable[[], Any]) -> Any:
    async def main() -> Any:
        return await work()

    return asyncio.run(main())


def _collect(work: Callable[[], Any]) -> list[Any]:
    async def main() -> list[Any]:
        return [item async for item in work()]

    return asyncio.run(main())


CALLERS = {
    "asyncio": Caller(AsyncCountersign, _run, _collect),
    "blocking": Caller(Countersign, lambda work: work(), lambda work: list(work())),
}
