"""An agent's tools: as the door lists them, called in the flat form of the contract."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
from support.calling import Caller
from support.scripted import CUT, Scripted, answering, refused
from support.service import PROJECT, Service

from countersign import ArgumentsError, CountersignConnectionError, CountersignError, ToolError
from countersign.calls import Call
from countersign.steps import run
from countersign.telling import telling
from countersign.toolanswer import Outcome
from countersign.tools import Door

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


ARGUMENTS: dict[str, Any] = {"orderId": "A-1", "amount": 1}
AGAIN: dict[str, Any] = {**ARGUMENTS, "again": "twice"}


def said(outcome: str) -> bytes:
    return done(outcome=outcome, message=f"It is {outcome}.", url=None, runId="run-1", startedAt="2026-11-28T04:00:00Z", replayed=False)


def rpc_error(code: int) -> bytes:
    return answering(200, {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no such tool"}})


@pytest.mark.parametrize(
    ("reply", "arguments", "answer"),
    [
        (CUT, ARGUMENTS, ("UNKNOWN", "no_answer", "make the very same call again, with the same arguments, which finds its run if it did")),
        (CUT, AGAIN, ("UNKNOWN", "no_answer", "make the same call without again")),
        (refused(500, "internal"), ARGUMENTS, ("UNKNOWN", "internal", "nobody knows whether this call arrived")),
        (rpc_error(-32603), ARGUMENTS, ("UNKNOWN", "internal", "nobody knows whether this call arrived")),
        (refused(503, "unavailable", Retry_After="99"), ARGUMENTS, ("REFUSED", "unavailable", "make the very same call again later")),
        (refused(401, "unauthenticated"), ARGUMENTS, ("REFUSED", "unauthenticated", "Nothing was sent, for it is unauthenticated: tell whom you work for")),
        (rpc_error(-32602), ARGUMENTS, ("REFUSED", "invalid_request", "no such tool")),
        (DONE, "[1]", ("REFUSED", "invalid_arguments", "Nothing was sent, for a tool's arguments must be an object")),
        (DONE, "{", ("REFUSED", "invalid_arguments", "must be an object")),
        (DONE, {"amount": 0.1 + 0.2}, ("REFUSED", "invalid_arguments", "amount")),
    ],
)
def test_a_model_is_told_what_became_of_its_call(caller: Caller, reply: bytes, arguments: Any, answer: tuple[str, str, str]) -> None:
    with Scripted(LIST, reply) as server:
        cs = caller.make(server.url, TOKEN)
        (tool,) = caller.call(lambda: cs.tools("agt-1"))
        told = caller.call(lambda: tool.tell(arguments))
    assert (told["outcome"], told["error"]) == answer[:2] and answer[2] in told["message"]
    assert (told["runId"], told["url"], told["startedAt"], told["replayed"]) == (None, None, None, False)


def test_a_read_and_a_rehearsal_that_got_no_answer_have_changed_nothing(caller: Caller) -> None:
    for rehearsal, listed in ((False, STATUS), (True, REFUND)):
        with Scripted(rpc({"tools": [listed]}), CUT) as server:
            cs = caller.make(server.url, TOKEN)
            (tool,) = caller.call(lambda: cs.tools("agt-1", rehearsal=rehearsal))
            assert "nothing is changed by this call" in caller.call(lambda: tool.tell({}))["message"]


def test_a_call_waits_for_a_person_as_long_as_it_is_told_and_outlasts_broken_connections() -> None:
    class Told:
        rehearsal = False

        def call(self, name: str, arguments: Any) -> Any:
            asked.append((name, arguments))
            return Call("POST", (), body={"params": {"arguments": arguments}})

    asked: list[Any] = []
    now = [0.0]
    answers = iter(["WAITING_FOR_A_PERSON", "HELD", None, "DONE"])

    def send(call: Any) -> dict[str, Any]:
        outcome = next(answers)
        now[0] += call.body["params"]["arguments"].get("waitSeconds", 0)
        if outcome is None:
            raise CountersignConnectionError("gone")
        return {"outcome": outcome, "runId": "run-1"}

    told = run(telling(Told(), "refund", ARGUMENTS, harmless=False, wait=3600, send=send, sleep=lambda s: None, read=dict, clock=lambda: now[0]))
    assert told["outcome"] == "DONE"
    assert asked[1:] == [("run_status", {"runId": "run-1", "waitSeconds": 50})] * 3


def test_arguments_that_are_none_are_of_a_type_of_their_own(caller: Caller) -> None:
    with Scripted(LIST) as server:
        cs = caller.make(server.url, TOKEN)
        (tool,) = caller.call(lambda: cs.tools("agt-1"))
        with pytest.raises(ArgumentsError):
            caller.call(lambda: tool.call("{"))


def test_an_answer_may_take_as_long_as_the_call_said_that_it_waits() -> None:
    door = Door("agt-1", False)
    assert door.call("refund", {"waitSeconds": 50}).more == 50
    assert door.call("refund", '{"waitSeconds": 4e9}').more == 50
    assert door.call("refund", {"waitSeconds": "soon"}).more == 0


FRONT_PAGE = Path(__file__).parents[3] / "README.md"
URL = "https://countersign.example.com/console/approvals/apr-1"
ANSWERS: list[tuple[dict[str, Any], str]] = [
    *(({"outcome": outcome, "message": "what to do", "url": None}, f"{outcome} what to do") for outcome in get_args(Outcome)),
    ({"outcome": "WAITING_FOR_A_PERSON", "message": "what to do", "url": URL}, f"WAITING_FOR_A_PERSON {URL}"),
    ({"outcome": "DONE", "runId": "run-1"}, "DONE "),
    ({"error": "invalid_request", "message": "amount is missing", "requestId": "req-1"}, "REFUSED amount is missing"),
]


@pytest.mark.parametrize(("answer", "says"), ANSWERS)
def test_the_front_pages_lines_print_what_became_of_every_call(capsys: pytest.CaptureFixture[str], answer: dict[str, Any], says: str) -> None:
    (lines,) = re.findall(r"^```python\n(.*?)^```$", FRONT_PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    with Scripted(rpc({"tools": [{**REFUND, "title": "refunds.create"}]}), done(**answer)) as server:
        exec(lines.replace("http://127.0.0.1:8080", server.url), {"token": TOKEN, "agent": "agt-1"})
    assert capsys.readouterr().out == says + "\n"
