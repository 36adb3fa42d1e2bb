"""The OpenAI Agents SDK with the real package: runs, and interruptions that a person's
decision ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, RunState, Usage
from frameworks.door import ARGUMENTS, LIST, SCHEMA, calls, said
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from support.scripted import CUT, Scripted

from countersign import AsyncCountersign
from countersign.adapters.openai_agents import openai_tools

CONFIG = RunConfig(tracing_disabled=True)


class Model_(Model):  # type: ignore[misc]
    """Calls refund with this text, and says what it was told."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        told = [item for item in (named.get("input") or given[1]) if isinstance(item, dict) and item.get("type") == "function_call_output"]
        output: Any = ResponseFunctionToolCall(type="function_call", call_id="1", name="refund", arguments=self.text)
        if told:
            text = ResponseOutputText(type="output_text", text=json.dumps(told), annotations=[])
            output = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *given: Any, **named: Any) -> Any:
        raise NotImplementedError


def agent_of(tools: Any, text: str, interrupt: bool = False) -> Agent[Any]:
    return Agent(name="Refunder", model=Model_(text), tools=openai_tools(tools, interrupt=interrupt))


@pytest.mark.parametrize(("text", "words"), [(json.dumps(ARGUMENTS), "make the very same call again"), ("[1]", "")])
def test_whatever_goes_wrong_is_told_to_the_model_and_its_run_goes_on(text: str, words: str) -> None:
    async def main() -> None:
        with Scripted(LIST, CUT) as server:
            agent = agent_of(await AsyncCountersign(server.url, "csn_agent").tools("agt-1"), text)
            result = await Runner.run(agent, "pay it back", run_config=CONFIG)
            assert words in result.final_output

    asyncio.run(main())


def test_a_call_is_sent_with_the_digits_that_the_model_wrote() -> None:
    async def main() -> None:
        with Scripted(LIST, said("DONE")) as server:
            tools = openai_tools(await AsyncCountersign(server.url, "csn_agent").tools("agt-1"))
            assert tools[0].params_json_schema == SCHEMA
            agent = Agent(name="Refunder", model=Model_('{"orderId":"A-1","amount":0.12345678901234567890}'), tools=tools)
            result = await Runner.run(agent, "pay it back", run_config=CONFIG)
            assert "DONE" in result.final_output
            assert b'"amount":0.12345678901234567890' in server.seen[-1].body

    asyncio.run(main())


def test_a_call_that_waits_for_a_person_is_an_interruption_that_outlives_the_process() -> None:
    async def main() -> None:
        with Scripted(LIST, said("WAITING_FOR_A_PERSON"), said("REFUSED", suggestedInput={"amount": 60})) as server:
            agent = agent_of(await AsyncCountersign(server.url, "csn_agent").tools("agt-1"), json.dumps({**ARGUMENTS, "again": "twice"}), True)
            first = await Runner.run(agent, "pay it back", run_config=CONFIG)
            assert len(first.interruptions) == 1
            state = await RunState.from_json(agent, json.loads(json.dumps(first.to_state().to_json())))
            for interruption in state.get_interruptions():
                state.approve(interruption)
            last = await Runner.run(agent, state, run_config=CONFIG)
            assert "suggestedInput" in last.final_output
            assert calls(server) == [("refund", ARGUMENTS)] * len(calls(server))

    asyncio.run(main())


def test_what_needs_nobody_interrupts_nothing() -> None:
    async def main() -> None:
        with Scripted(LIST, said("DONE")) as server:
            agent = agent_of(await AsyncCountersign(server.url, "csn_agent").tools("agt-1"), json.dumps(ARGUMENTS), True)
            result = await Runner.run(agent, "pay it back", run_config=CONFIG)
            assert result.interruptions == [] and "DONE" in result.final_output

    asyncio.run(main())
