"""An agent's tools: as the door lists them, called in the flat form of the contract."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from support.calling import Caller
from support.scripted import CUT, Scripted, answering, refused
from support.service import PROJECT, Service

from countersign import CountersignConnectionError, CountersignError, ToolError

TOKEN = "csn_agent"
SCHEMA = {
    "type": "object",
    "properties": {"orderId": {"type": "string"}, "amount": {"type": "number"}, "task": {"type": "string"}, "again": {"type": "string"}},
    "required": ["orderId", "amount"],
    "additionalProperties": False,
}
REFUND = {"name": "refund", "title": "Refund", "description": "Pays back.", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": False}}
STATUS = {"name": "run_status", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def rpc(result: Any) -> bytes:
    return answering(200, {"jsonrpc": "2.0", "id": 1, "result": result})


def done(**value: Any) -> bytes:
    return rpc({"content": [{"type": "text", "text": "{}"}], "structuredContent": value})


LIST = rpc({"tools": [REFUND]})
DONE = done(outcome="DONE", runId="run-1")


def test_tools_are_listed_over_all_pages_with_their_schemas(caller: Caller) -> None:
    with Scripted(rpc({"tools": [REFUND], "nextCursor": "c"}), rpc({"tools": [STATUS]})) as server:
        cs = caller.make(server.url, TOKEN)
        refund, status = caller.call(lambda: cs.tools("agt-1"))
    assert (refund.name, refund.title, refund.description, refund.schema, refund.read_only) == ("refund", "Refund", "Pays back.", SCHEMA, False)
    assert (status.title, status.read_only) == ("run_status", True)
    assert [seen.line for seen in server.seen] == ["POST /mcp/agents/agt-1 HTTP/1.1"] * 2
    assert json.loads(server.seen[1].body)["params"] == {"cursor": "c"}
    assert server.seen[0].headers["accept"] == "application/json, text/event-stream"


def test_a_tool_is_found_by_its_capability_and_by_its_own_name_in_what_stays_a_list(caller: Caller) -> None:
    dotted = {"name": "refunds_create_0f3c9a21", "title": "refunds.create", "inputSchema": SCHEMA}
    with Scripted(rpc({"tools": [REFUND, dotted, STATUS]})) as server:
        cs = caller.make(server.url, TOKEN)
        tools = caller.call(lambda: cs.tools("agt-1"))
    assert issubclass(type(tools), list) and len(tools) == 3 and [tool.name for tool in tools[1:]] == ["refunds_create_0f3c9a21", "run_status"]
    assert tools["refunds.create"] is tools[1] is tools["refunds_create_0f3c9a21"]
    assert tools["run_status"] is tools[-1]
    assert "refunds.create" in tools and "refunds.delete" not in tools and tools[0] in tools
    with pytest.raises(KeyError, match="no tool refunds.creat; there are Refund, refunds.create, run_status"):
        tools["refunds.creat"]


@pytest.mark.parametrize(("rehearsal", "path"), [(False, "/mcp/agents/agt-1"), (True, "/mcp/agents/agt-1/rehearsal")])
def test_a_call_sends_its_arguments_flat_to_the_door_that_was_asked_for(caller: Caller, rehearsal: bool, path: str) -> None:
    with Scripted(LIST, DONE) as server:
        cs = caller.make(server.url, TOKEN)
        (tool,) = caller.call(lambda: cs.tools("agt-1", rehearsal=rehearsal))
        assert caller.call(lambda: tool(orderId="A-1", amount=Decimal("64.50"), task="t-1")) == {"outcome": "DONE", "runId": "run-1"}
    assert server.seen[-1].line == f"POST {path} HTTP/1.1"
    want = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund","arguments":{"orderId":"A-1","amount":64.50,"task":"t-1"}}}'
    assert server.seen[-1].body == want


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"amount": 12345678901234567890.10}', b'"arguments":{"amount":12345678901234567890.10}'),
        ({"amount": 64.5, "lines": [{"price": 0.1}]}, b'"arguments":{"amount":64.5,"lines":[{"price":0.1}]}'),
        ("", b'"arguments":{}'),
    ],
)
def test_numbers_of_a_model_keep_their_digits(caller: Caller, arguments: Any, sent: bytes) -> None:
    with Scripted(LIST, done(price=1)) as server:
        cs = caller.make(server.url, TOKEN)
        (tool,) = caller.call(lambda: cs.tools("agt-1"))
        assert caller.call(lambda: tool.text(arguments)) == '{"price":1}'
    assert sent in server.seen[-1].body


@pytest.mark.parametrize("arguments", [{"amount": 0.1 + 0.2}, {"amount": float("nan")}, "[1]", "{"])
def test_arguments_of_which_nobody_knows_the_number_are_refused_before_anything_is_sent(caller: Caller, arguments: Any) -> None:
    with Scripted(LIST) as server:
        cs = caller.make(server.url, TOKEN)
        (tool,) = caller.call(lambda: cs.tools("agt-1"))
        with pytest.raises(ValueError):
            caller.call(lambda: tool.call(arguments))
    assert len(server.seen) == 1


def test_a_call_is_sent_again_after_a_broken_connection_but_one_that_asks_again_is_not(caller: Caller) -> None:
    with Scripted(LIST, CUT, DONE) as server:
        cs = caller.make(server.url, TOKEN)
        (tool,) = caller.call(lambda: cs.tools("agt-1"))
        assert caller.call(lambda: tool(orderId="A-1", amount=1))["outcome"] == "DONE"
    assert len({seen.body for seen in server.seen[1:]}) == 1 and len(server.seen) == 3
    with Scripted(LIST, CUT) as server:
        cs = caller.make(server.url, TOKEN)
        (tool,) = caller.call(lambda: cs.tools("agt-1"))
        with pytest.raises(CountersignConnectionError):
            caller.call(lambda: tool(orderId="A-1", amount=1, again="the parcel came back twice"))
    assert len(server.seen) == 2


def test_a_refusal_is_an_answer_for_the_model_and_what_the_door_does_not_take_is_an_error(caller: Caller) -> None:
    refusal = {"error": "agent_not_admitted", "message": "it is PENDING", "requestId": "req-12345678"}
    text_only = rpc({"isError": True, "content": [{"type": "text", "text": json.dumps(refusal)}]})
    wrong = answering(200, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no such tool"}})
    with Scripted(LIST, text_only, wrong, answering(200, [1]), refused(403, "role_required")) as server:
        cs = caller.make(server.url, TOKEN)
        (tool,) = caller.call(lambda: cs.tools("agt-1"))
        assert caller.call(lambda: tool.call({})) == refusal
        with pytest.raises(ToolError, match="no such tool") as raised:
            caller.call(lambda: tool.call({}))
        assert raised.value.code == -32602
        with pytest.raises(CountersignConnectionError):
            caller.call(lambda: tool.call({}))
        with pytest.raises(CountersignError, match="role_required"):
            caller.call(lambda: tool.call({}))


def test_the_door_of_the_service_lists_and_answers(service: Service, caller: Caller) -> None:
    agent: Any = {"externalAgentId": "tooled", "sourceRevision": 1, "name": "Tooled", "role": "tests", "goal": "it is called", "capabilities": ["orders.read"]}
    agent["modelId"] = "refund-agent"
    (item,) = service.operator.sync_agents(PROJECT, {"schemaVersion": "1.0", "agents": [agent]})["items"]
    service.admin.admit_agent(item["id"], {"reason": "it is ours"})
    token = service.admin.create_token({"name": "tooled", "roles": ["OPERATOR"], "agentIds": [item["id"]]})["token"]
    cs = caller.make(service.url, token)
    read, status = caller.call(lambda: cs.tools(item["id"]))
    assert read.name.startswith("orders_read") and read.read_only and read.schema["type"] == "object"
    answer = caller.call(lambda: status(runId="run-none"))
    assert (answer["error"], "requestId" in answer) == ("not_found", True)
