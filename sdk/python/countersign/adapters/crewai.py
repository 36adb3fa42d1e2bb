"""Tools for CrewAI.

NOT TRIED against the real package; written to its documentation.

    Agent(role="Refunder", goal="...", backstory="...", tools=crewai_tools(cs.tools(agent_id)))
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from ..tools import Tool

_TYPES = {"string": str, "integer": int, "number": Decimal, "boolean": bool, "array": list, "object": dict}


def crewai_tools(tools: Iterable[Tool]) -> list[Any]:
    from crewai.tools import BaseTool
    from pydantic import Field, create_model

    def model(tool: Tool) -> Any:
        """CrewAI takes a model of pydantic, not a schema: what a type doesn't say, the service checks."""
        fields: dict[str, Any] = {}
        for name, schema in tool.schema.get("properties", {}).items():
            needed = name in tool.schema.get("required", [])
            of: Any = _TYPES.get(schema.get("type", ""), Any)
            fields[name] = (of if needed else of | None, Field(... if needed else None, description=schema.get("description", "")))
        return create_model(f"{tool.name}_arguments", **fields)

    def made(tool: Tool) -> Any:
        class Made(BaseTool):  # type: ignore[misc]
            def _run(self, **arguments: Any) -> str:
                return tool.text({name: value for name, value in arguments.items() if value is not None})

        return Made(name=tool.name, description=tool.description, args_schema=model(tool))

    return [made(tool) for tool in tools]
