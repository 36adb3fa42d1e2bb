"""Tools for LangGraph and LangChain (langchain-core 1 or later).

Not tried against the real package; written to its documentation and sources.

    agent = create_agent(model, tools=langgraph_tools(cs.tools(agent_id)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..tools import AsyncTool, Tool
from .suspension import is_of, once, once_only, suspension, text


def langgraph_tools(tools: Iterable[Tool | AsyncTool], *, interrupt: Callable[[Any], Any] | None = None, wait: float = 0) -> list[Any]:
    """interrupt: that of langgraph.types. A call that waits for a person then suspends the
    graph, which is resumed with the interrupt's own value. Such tools have no `again`. Needs
    a checkpointer. wait: how many seconds a call waits at most for a person."""
    from langchain_core.tools import StructuredTool

    return [
        StructuredTool(
            name=tool.name,
            description=tool.description,
            args_schema=once(tool) if interrupt else tool.schema,  # the door checks arguments, and tells the model what is wrong
            **({"func": _calling(tool, interrupt, wait)} if isinstance(tool, Tool) else {"coroutine": _awaiting(tool, interrupt, wait)}),
        )
        for tool in tools
    ]


def _calling(tool: Tool, interrupt: Callable[[Any], Any] | None, wait: float) -> Any:
    def func(**arguments: Any) -> str:
        if interrupt is None:
            return text(tool.tell(arguments, wait=wait))
        arguments = once_only(tool, arguments)
        of = _resumed(interrupt, tool, arguments)
        while True:
            answer = tool.status(of, wait=wait) if of else tool.tell(arguments, wait=wait)
            waits = suspension(tool, arguments, answer)
            if waits is None:
                return text(answer)
            interrupt(waits)
            of = waits["runId"]

    return func


def _awaiting(tool: AsyncTool, interrupt: Callable[[Any], Any] | None, wait: float) -> Any:
    async def coroutine(**arguments: Any) -> str:
        if interrupt is None:
            return text(await tool.tell(arguments, wait=wait))
        arguments = once_only(tool, arguments)
        of = _resumed(interrupt, tool, arguments)
        while True:
            answer = await (tool.status(of, wait=wait) if of else tool.tell(arguments, wait=wait))
            waits = suspension(tool, arguments, answer)
            if waits is None:
                return text(answer)
            interrupt(waits)
            of = waits["runId"]

    return coroutine


def _resumed(interrupt: Callable[[Any], Any], tool: Tool | AsyncTool, arguments: dict[str, Any]) -> str | None:
    """The run that this call was suspended for. A graph that goes on runs the node, and so
    the call, from its beginning."""
    try:
        value = interrupt(None)
    except Exception as error:
        if type(error).__name__ == "GraphInterrupt":
            return None
        raise
    return value["runId"] if is_of(value, tool, arguments) else None
