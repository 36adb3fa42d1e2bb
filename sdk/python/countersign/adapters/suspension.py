"""What an agent is suspended for: a call that waits for a person."""

from __future__ import annotations

from typing import Any

from ..exactjson import encode
from ..toolanswer import ToolAnswer
from ..tools import ToolSpec


def suspension(tool: ToolSpec, arguments: dict[str, Any], answer: ToolAnswer) -> dict[str, Any] | None:
    """runId, url, message, tool and arguments: keep it with the suspended agent, and resume
    the agent with it once the run has ended. None if the call waits for nobody."""
    if answer.get("outcome") != "WAITING_FOR_A_PERSON" or not answer.get("runId"):
        return None
    return {"runId": answer["runId"], "url": answer.get("url"), "message": answer.get("message"), "tool": tool.name, "arguments": arguments}


def is_of(value: Any, tool: ToolSpec, arguments: dict[str, Any]) -> bool:
    """A value that an agent is resumed with is this call's suspension."""
    return isinstance(value, dict) and isinstance(value.get("runId"), str) and value.get("tool") == tool.name and value.get("arguments") == arguments


def once(tool: ToolSpec) -> dict[str, Any]:
    """The schema of a tool whose calls are made anew when a suspended agent goes on: without
    `again`, since each call that has it is another run. An input that the capability
    requires and that has this name stays."""
    if _needs_again(tool):
        return tool.schema
    return {**tool.schema, "properties": {name: schema for name, schema in tool.schema.get("properties", {}).items() if name != "again"}}


def once_only(tool: ToolSpec, arguments: Any) -> Any:
    """Arguments of such a call."""
    if _needs_again(tool) or not isinstance(arguments, dict):
        return arguments  # the door refuses what is no object
    return {name: value for name, value in arguments.items() if name != "again"}


def _needs_again(tool: ToolSpec) -> bool:
    return "again" in tool.schema.get("required", [])


def text(answer: ToolAnswer) -> str:
    return encode(answer).decode()
