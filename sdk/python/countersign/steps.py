"""One course of work for blocking and for asyncio callers.

A course is a generator that yields calls without arguments and is sent what they
give; it decides, and never waits itself. What a call gives is the value for a blocking
caller, and an awaitable of it for asyncio.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")

Course = Generator[Callable[[], Any], Any, T]


def run(course: Course[T]) -> T:
    """Walks a course whose calls block."""
    try:
        call = next(course)
        while True:
            try:
                value = call()
            except BaseException as error:
                call = course.throw(error)
            else:
                call = course.send(value)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def arun(course: Course[T]) -> T:
    """Walks a course whose calls give awaitables. A cancellation reaches the course."""
    try:
        call = next(course)
        while True:
            try:
                value = await call()
            except BaseException as error:
                call = course.throw(error)
            else:
                call = course.send(value)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
