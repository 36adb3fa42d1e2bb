"""Lists that come page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_LARGEST_PAGE = 200


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list, from one state of the service."""

    items: list[T]
    total: int
    """How many there are in all."""
    next_offset: int | None
    """None on the last page."""


class _Query:
    def __init__(self, query: dict[str, Any]) -> None:
        self.asked = query
        self.offset: int | None = query.get("offset") or 0
        self._before: set[object] = set()

    def next(self) -> dict[str, Any]:
        return {**self.asked, "limit": self.asked.get("limit") or _LARGEST_PAGE, "offset": self.offset}

    def fresh(self, page: Page[T]) -> list[T]:
        """What a page doesn't repeat of the one before it: one that is added meanwhile pushes the others along."""
        self.offset = page.next_offset
        fresh = [item for item in page.items if _identity(item) not in self._before]
        self._before = {_identity(item) for item in page.items}
        return fresh


def _identity(item: Any) -> object:
    for name in ("id", "seq", "email"):
        if name in item:
            return name, item[name]
    return item.get("name"), item.get("tenantId"), item.get("origin")


def _page(answer: Any) -> Page[Any]:
    return Page(answer["items"], answer["total"], answer["nextOffset"])


class Listing(Generic[T]):
    """A list that was not read yet: `page()` reads the one page that was asked for, `for`
    every record from there on, page by page. Each page is a state of its own."""

    def __init__(self, fetch: Callable[[dict[str, Any]], Any], query: dict[str, Any]) -> None:
        self._fetch = fetch
        self._query = query

    def page(self) -> Page[T]:
        return _page(self._fetch(self._query))

    def __iter__(self) -> Iterator[T]:
        query = _Query(self._query)
        while query.offset is not None:
            yield from query.fresh(_page(self._fetch(query.next())))


class AsyncListing(Generic[T]):
    """A list that was not read yet: `await page()` reads the one page that was asked for,
    `async for` every record from there on, page by page. Each page is a state of its own."""

    def __init__(self, fetch: Callable[[dict[str, Any]], Awaitable[Any]], query: dict[str, Any]) -> None:
        self._fetch = fetch
        self._query = query

    async def page(self) -> Page[T]:
        return _page(await self._fetch(self._query))

    async def __aiter__(self) -> AsyncIterator[T]:
        query = _Query(self._query)
        while query.offset is not None:
            for item in query.fresh(_page(await self._fetch(query.next()))):
                yield item
