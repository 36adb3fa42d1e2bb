"""Tools for CrewAI.

Not tried against the real package; written to its documentation and sources.

    Agent(role="Refunder", goal="...", backstory="...", tools=crewai_tools(cs.tools(agent_id)))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..tools import Tool
from .suspension import text


def crewai_tools(tools: Iterable[Tool], *, wait: float = 0) -> list[Any]:
    """wait: how many seconds a call waits at most for a person; a crew has no way to sleep
    meanwhile."""
    from crewai.tools import BaseTool
    from pydantic import BaseModel

    def model(tool: Tool) -> Any:
        """CrewAI takes a model of pydantic, not a schema: one that shows the door's schema and
        takes everything, since the door checks arguments, and tells the model what is wrong."""

        class Arguments(BaseModel):
            model_config: Any = {"extra": "allow"}

            @classmethod
            def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
                return dict(tool.schema)

        Arguments.__name__ = f"{tool.name}_arguments"
        return Arguments

    def made(tool: Tool) -> Any:
        class Made(BaseTool):  # type: ignore[misc]
            def _run(self, **arguments: Any) -> str:
                return text(tool.tell(arguments, wait=wait))

        return Made(name=tool.name, description=tool.description, args_schema=model(tool))

    return [made(tool) for tool in tools]
