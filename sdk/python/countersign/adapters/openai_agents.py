"""Tools for the OpenAI Agents SDK (the package openai-agents).

NOT TRIED against the real package; written to its documentation.

    agent = Agent(name="Refunder", tools=openai_tools(await cs.tools(agent_id)))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..tools import AsyncTool


def openai_tools(tools: Iterable[AsyncTool]) -> list[Any]:
    from agents import FunctionTool

    def made(tool: AsyncTool) -> Any:
        async def invoke(context: Any, arguments: str) -> str:
            return await tool.text(arguments)  # the model's own text: numbers keep their digits

        return FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.schema,
            on_invoke_tool=invoke,
            strict_json_schema=False,  # strict schemas have no optional arguments
        )

    return [made(tool) for tool in tools]
