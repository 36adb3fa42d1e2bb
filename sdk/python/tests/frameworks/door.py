"""A door of an agent that lists refund and run_status, and answers as it is told."""

from __future__ import annotations

import json
from typing import Any

from support.scripted import Scripted, answering

PROPERTIES = {"orderId": {"type": "string"}, "amount": {"type": "number"}, "task": {"type": "string"}, "again": {"type": "string"}}
SCHEMA: dict[str, Any] = {"type": "object", "properties": PROPERTIES, "required": ["orderId", "amount"], "additionalProperties": False}
ARGUMENTS: dict[str, Any] = {"orderId": "A-1", "amount": 64.5}


def rpc(result: Any) -> bytes:
    return answering(200, {"jsonrpc": "2.0", "id": 1, "result": result})


def said(outcome: str, **more: Any) -> bytes:
    value = {"outcome": outcome, "message": f"It is {outcome}.", "url": None, "runId": "run-1", "startedAt": None, "replayed": False, **more}
    return rpc({"content": [], "structuredContent": value})


LIST = rpc(
    {
        "tools": [
            {"name": "refund", "title": "Refund", "description": "Pays back.", "inputSchema": SCHEMA},
            {"name": "run_status", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": True}},
        ]
    }
)


def calls(server: Scripted) -> list[tuple[str, Any]]:
    messages = [json.loads(seen.body) for seen in server.seen]
    return [(m["params"]["name"], m["params"]["arguments"]) for m in messages if m["method"] == "tools/call"]
