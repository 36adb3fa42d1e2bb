"""Tools for LangGraph and LangChain (langchain-core 0.3 or later).

NOT TRIED against the real package; written to its documentation.

    agent = create_react_agent(model, tools=langgraph_tools(cs.tools(agent_id)))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..tools import AsyncTool, Tool


def langgraph_tools(tools: Iterable[Tool | AsyncTool]) -> list[Any]:
    from langchain_core.tools import StructuredTool

    return [
        StructuredTool(name=tool.name, description=tool.description, args_schema=tool.schema, **{_kind(tool): _calling(tool)})
        for tool in tools
    ]


def _kind(tool: Tool | AsyncTool) -> str:
    return "func" if isinstance(tool, Tool) else "coroutine"


def _calling(tool: Tool | AsyncTool) -> Any:
    if isinstance(tool, Tool):
        return lambda **arguments: tool.text(arguments)
    return _awaiting(tool)


def _awaiting(tool: AsyncTool) -> Any:
    async def coroutine(**arguments: Any) -> str:
        return await tool.text(arguments)

    return coroutine
