"""An agent's capabilities as tools for any framework: a name, a JSON schema and a callable
each, as the agent's door of the Model Context Protocol lists them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, SupportsIndex, TypeVar, overload

from . import exactjson
from .calls import Call
from .errors import CountersignConnectionError
from .steps import Course, arun, run
from .telling import STATUS, telling
from .told import ArgumentsError, ToolError
from .toolanswer import ToolAnswer

Arguments = Mapping[str, Any] | str
"""Values, or the JSON text of an object, as a model wrote it: its numbers keep their digits."""

_EXACT_DIGITS = 15  # of a decimal; a double tells so many apart


@dataclass(frozen=True)
class ToolSpec:
    """What a model is told of a tool."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    """JSON schema of the arguments: the capability's inputs and, where no input has the name,
    task (what the call belongs to), reason (shown to the approver) and again (a reason to repeat)."""
    read_only: bool


class Tool(ToolSpec):
    """A tool for blocking callers. The answer has `outcome` (REHEARSED,
    WAITING_FOR_A_PERSON with `url`, RUNNING, HELD, DONE, REFUSED, NOT_AS_EXPECTED, UNKNOWN
    or STOPPED), `message`, which says what that means, and the run's fields, or `error` of a
    refusal, for the model to read. The same call finds its run as long as that goes on, and
    24 hours after its end."""

    def __init__(self, spec: ToolSpec, send: Callable[[Call], Any], door: Door) -> None:
        super().__init__(**vars(spec))
        object.__setattr__(self, "_call", lambda arguments: send(door.call(spec.name, arguments)))

        def tell(name: str, arguments: Any, wait: float) -> Any:
            return run(telling(door, name, arguments, harmless=spec.read_only or name == STATUS, wait=wait, send=send, sleep=time.sleep, read=answered))

        object.__setattr__(self, "_tell", tell)

    def call(self, arguments: Arguments) -> ToolAnswer:
        answer: ToolAnswer = answered(self._call(arguments))  # type: ignore[attr-defined]
        return answer

    def text(self, arguments: Arguments) -> str:
        """The answer as JSON text."""
        return exactjson.encode(self.call(arguments)).decode()

    def tell(self, arguments: Arguments, *, wait: float = 0) -> ToolAnswer:
        """As call, but what goes wrong is told to the model too, in the same form: no
        answer, a token that isn't taken, arguments that are none. A call waits at most
        `wait` seconds for a person, or for a stop to be lifted."""
        told: ToolAnswer = self._tell(self.name, arguments, wait)  # type: ignore[attr-defined]
        return told

    def status(self, run_id: str, *, wait: float = 0) -> ToolAnswer:
        """What became of a run of this agent, in the form of tell."""
        told: ToolAnswer = self._tell(STATUS, {"runId": run_id}, wait)  # type: ignore[attr-defined]
        return told

    def __call__(self, **arguments: Any) -> ToolAnswer:
        return self.call(arguments)


class AsyncTool(ToolSpec):
    """A tool for asyncio; see Tool."""

    def __init__(self, spec: ToolSpec, send: Callable[[Call], Awaitable[Any]], door: Door) -> None:
        super().__init__(**vars(spec))
        object.__setattr__(self, "_call", lambda arguments: send(door.call(spec.name, arguments)))

        async def tell(name: str, arguments: Any, wait: float) -> Any:
            return await arun(
                telling(door, name, arguments, harmless=spec.read_only or name == STATUS, wait=wait, send=send, sleep=asyncio.sleep, read=answered)
            )

        object.__setattr__(self, "_tell", tell)

    async def call(self, arguments: Arguments) -> ToolAnswer:
        answer: ToolAnswer = answered(await self._call(arguments))  # type: ignore[attr-defined]
        return answer

    async def text(self, arguments: Arguments) -> str:
        """The answer as JSON text."""
        return exactjson.encode(await self.call(arguments)).decode()

    async def tell(self, arguments: Arguments, *, wait: float = 0) -> ToolAnswer:
        """See Tool.tell."""
        told: ToolAnswer = await self._tell(self.name, arguments, wait)  # type: ignore[attr-defined]
        return told

    async def status(self, run_id: str, *, wait: float = 0) -> ToolAnswer:
        """What became of a run of this agent, in the form of tell."""
        told: ToolAnswer = await self._tell(STATUS, {"runId": run_id}, wait)  # type: ignore[attr-defined]
        return told

    async def __call__(self, **arguments: Any) -> ToolAnswer:
        return await self.call(arguments)


AnyTool = TypeVar("AnyTool", bound=ToolSpec)


class Tools(list[AnyTool]):
    """The tools in the order in which the door lists them, each also by its capability's name
    or its own: tools["refunds.create"]. A name that no tool has is a KeyError."""

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> AnyTool: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[AnyTool]: ...
    @overload
    def __getitem__(self, key: str, /) -> AnyTool: ...
    def __getitem__(self, key: SupportsIndex | slice | str, /) -> AnyTool | list[AnyTool]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        tool = self._named(key)
        if tool is None:
            raise KeyError(f"no tool {key}; there are {', '.join(sorted(tool.title for tool in self))}")
        return tool

    def __contains__(self, item: object, /) -> bool:
        return self._named(item) is not None if isinstance(item, str) else super().__contains__(item)

    def _named(self, name: str) -> AnyTool | None:
        """The title is the capability's name; that of the tool is spelt as models take it."""
        by_capability = (tool for tool in self if tool.title == name)
        return next(by_capability, None) or next((tool for tool in self if tool.name == name), None)


@dataclass(frozen=True)
class Door:
    """Where an agent's tools are called: LIVE, or for rehearsal, where nothing is sent."""

    agent_id: str
    rehearsal: bool

    def listed(self, send: Callable[[Call], Any]) -> Course[list[ToolSpec]]:
        """Reads all pages of the tools."""
        found: list[ToolSpec] = []
        params: dict[str, Any] = {}
        while True:
            message = self._message("tools/list", params, repeatable=True)
            result = _result((yield lambda: send(message)))
            found += [_spec(tool) for tool in result.get("tools", [])]
            if not result.get("nextCursor"):
                return found
            params = {"cursor": result["nextCursor"]}

    def call(self, name: str, arguments: Arguments) -> Call:
        """A call of a tool. It is sent again after a broken connection, since the service
        finds the run of the same call; one that asks `again` would be another run."""
        given = _given(arguments)
        return self._message("tools/call", {"name": name, "arguments": given}, repeatable="again" not in given, more=_seconds(given.get("waitSeconds")))

    def _message(self, method: str, params: dict[str, Any], repeatable: bool, more: float = 0) -> Call:
        return Call(
            "POST",
            ("mcp", "agents", self.agent_id, *(["rehearsal"] if self.rehearsal else [])),
            body={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            accept="application/json, text/event-stream",
            prefixed=False,
            repeats=repeatable,
            more=more,
        )


def _seconds(given: Any) -> float:
    """How long a call says that it waits."""
    return min(float(given), 50.0) if isinstance(given, (int, Decimal)) and given > 0 else 0.0


def answered(message: Any) -> Any:
    """What a call of a tool came to."""
    result = _result(message)
    value = result.get("structuredContent")
    if value is None:
        parts = [part.get("text", "") for part in result.get("content", []) if part.get("type") == "text"]
        try:
            value = exactjson.decode("".join(parts))
        except ValueError:
            value = {"message": "".join(parts)}
    return value if isinstance(value, dict) else {"value": value}


def _result(message: Any) -> dict[str, Any]:
    if isinstance(message, dict) and isinstance(message.get("error"), dict):
        raise ToolError(message["error"].get("code", 0), message["error"].get("message", ""))
    if not isinstance(message, dict) or not isinstance(message.get("result"), dict):
        raise CountersignConnectionError("the answer is no message of MCP")
    result: dict[str, Any] = message["result"]
    return result


def _spec(tool: dict[str, Any]) -> ToolSpec:
    read_only = (tool.get("annotations") or {}).get("readOnlyHint") is True
    return ToolSpec(tool["name"], tool.get("title") or tool["name"], tool.get("description", ""), tool["inputSchema"], read_only)


def _given(arguments: Arguments) -> dict[str, Any]:
    try:
        value = exactjson.decode(arguments or "{}") if isinstance(arguments, str) else arguments
    except ValueError:
        value = None
    if not isinstance(value, Mapping):
        raise ArgumentsError("a tool's arguments must be an object")
    return {name: _exact(member, name) for name, member in value.items()}


def _exact(value: Any, where: str) -> Any:
    """Frameworks read a model's numbers as floats. Those of few digits are the decimal that
    was written; of others nobody knows which one was."""
    if isinstance(value, float):
        written = Decimal(repr(value))
        if not written.is_finite() or len(written.as_tuple().digits) > _EXACT_DIGITS:
            raise ArgumentsError(f"{where}: {value!r} is a float of more digits than are exact; give the arguments as JSON text")
        return written
    if isinstance(value, Mapping):
        return {name: _exact(member, f"{where}.{name}") for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(member, f"{where}[{i}]") for i, member in enumerate(value)]
    return value
