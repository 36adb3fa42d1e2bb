"""Sends calls by asyncio and waits for their answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing
from typing import Any

from . import http1
from .calls import Call, Reply, refusal, repeated
from .deadline import Patience
from .options import Settings
from .steps import arun
from .transport import READ, explain, too_large


class AsyncTransport:
    """Sends requests to one origin, each on a connection of its own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    async def send(self, call: Call) -> Any:
        return await arun(repeated(call, self.settings, self._exchange, asyncio.sleep, Reply.value))

    async def raw(self, call: Call) -> bytes:
        """The bytes of an answer, as they came."""
        return await arun(repeated(call, self.settings, self._exchange, asyncio.sleep, Reply.raw))

    async def stream(self, call: Call, patience: Patience) -> AsyncGenerator[bytes, None]:
        """An answer that goes on, part by part."""
        answer = http1.Answer()
        async with aclosing(self._received(call, call.message(self.settings), patience, answer)) as parts:
            first = await anext(parts, b"")
            if not 200 <= answer.status < 300:
                raise refusal(Reply(answer.status, answer.headers, first + await self._whole(parts)))
            if first:
                yield first
            async for part in parts:
                yield part

    async def _exchange(self, call: Call, message: bytes) -> Reply:
        answer = http1.Answer()
        patience = Patience(whole=(call.timeout or self.settings.timeout) + call.more)
        async with aclosing(self._received(call, message, patience, answer)) as parts:
            body = await self._whole(parts)
        return Reply(answer.status, answer.headers, body)

    async def _whole(self, parts: AsyncIterator[bytes]) -> bytes:
        body = bytearray()
        async for part in parts:
            body += part
            if len(body) > self.settings.max_answer_bytes:
                raise too_large(self.settings.max_answer_bytes)
        return bytes(body)

    async def _received(self, call: Call, message: bytes, patience: Patience, answer: http1.Answer) -> AsyncGenerator[bytes, None]:
        """The parts of an answer's body as they come. The head has come before the first."""
        writer: asyncio.StreamWriter | None = None
        try:
            settings = self.settings
            opening = asyncio.open_connection(settings.host, settings.port, ssl=settings.ssl_context)
            reader, opened = await within(patience, opening)
            writer = opened
            opened.write(message)
            await within(patience, opened.drain())
            while not answer.complete:
                data = await within(patience, reader.read(READ))
                patience.heard()
                part = answer.feed(data)
                if not data:
                    answer.end()
                if part:
                    yield part
        except (OSError, asyncio.TimeoutError, http1.BadAnswer) as error:
            raise explain(TimeoutError() if isinstance(error, asyncio.TimeoutError) else error, call, self.settings) from None
        finally:
            if writer is not None:
                writer.transport.abort()  # nothing is left to be sent; waiting could hang


async def within(patience: Patience, work: Awaitable[Any]) -> Any:
    """Awaits no longer than there is time."""
    return await asyncio.wait_for(work, patience.left())
