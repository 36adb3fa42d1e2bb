"""Tools for the OpenAI Agents SDK (the package openai-agents).

    agent = Agent(name="Refunder", tools=openai_tools(await cs.tools(agent_id)))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import exactjson
from ..tools import AsyncTool
from .suspension import once, once_only, suspension, text


def openai_tools(tools: Iterable[AsyncTool], *, interrupt: bool = False, wait: float = 0) -> list[Any]:
    """interrupt: a call that waits for a person is an interruption of the run, which goes on
    when `state.approve(interruption)` says that somebody has decided. That decides nothing by
    itself: the call is told what was decided. Such tools have no `again`. wait: how many
    seconds a call waits at most for a person."""
    from agents import FunctionTool

    def made(tool: AsyncTool) -> Any:
        suspends = interrupt and not tool.read_only

        async def invoke(context: Any, arguments: str) -> str:
            return text(await tool.tell(_without_again(tool, arguments) if suspends else arguments, wait=wait))

        async def asks(context: Any, arguments: dict[str, Any], call_id: str) -> bool:
            given = once_only(tool, arguments)
            return suspension(tool, given, await tool.tell(given, wait=wait)) is not None

        return FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=once(tool) if suspends else tool.schema,
            on_invoke_tool=invoke,
            strict_json_schema=False,  # strict schemas have no optional arguments
            **({"needs_approval": asks} if suspends else {}),
        )

    return [made(tool) for tool in tools]


def _without_again(tool: AsyncTool, arguments: str) -> Any:
    """The model's own text where that is no matter: numbers keep their digits either way."""
    try:
        return once_only(tool, exactjson.decode(arguments or "{}"))
    except ValueError:
        return arguments
