"""The operations end to end: the real service, and a shop behind the receiver kit."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from support.calling import Caller
from support.refunds import refund_plan
from support.service import PROJECT, Service
from support.shop import Shop

from countersign import AsyncCountersign, CountersignError
from countersign import types as t


def agent(name: str, capability: str) -> t.ManifestAgent:
    return {
        "externalAgentId": name,
        "sourceRevision": 1,
        "name": name,
        "role": "tests",
        "goal": "the test passes",
        "capabilities": [capability],
        "modelId": "refund-agent",
    }


def test_a_rehearsal_sends_nothing_and_ends_by_itself(service: Service, shop: Shop, caller: Caller) -> None:
    before = len(shop.calls)
    cs = caller.make(service.url, service.operator_token)
    plan = caller.call(lambda: cs.create_plan(refund_plan("DRY_RUN")))
    started = caller.call(lambda: cs.start_run({"planId": plan["id"]}))
    run = caller.call(lambda: cs.wait_run(started["id"]))
    assert (run["status"], [step["status"] for step in run["steps"]]) == ("COMPLETED", ["SIMULATED", "SIMULATED"])
    assert len(shop.calls) == before


def test_a_live_run_waits_for_somebody_elses_approval_and_is_sent_signed_once(service: Service, shop: Shop, caller: Caller) -> None:
    cs = caller.make(service.url, service.operator_token)
    plan = caller.call(lambda: cs.create_plan(refund_plan("LIVE")))
    key = f"refund-of-{plan['id']}"
    started = caller.call(lambda: cs.start_run({"planId": plan["id"]}, idempotency_key=key))
    assert started["idempotencyKey"] == key
    waiting = caller.call(lambda: cs.wait_run(started["id"], until="standstill"))
    assert waiting["status"] == "WAITING_APPROVAL"
    service.approver.decide_approval(waiting["approvalId"], {"decision": "APPROVED", "reason": "the order came back"})
    run = caller.call(lambda: cs.wait_run(started["id"]))
    assert run["status"] == "COMPLETED"
    sent = [each for each in shop.calls if each.call.run_id == run["id"] and each.call.method == "POST"]
    assert [each.call.idempotency_key for each in sent] == [f"{run['id']}.refund"]
    assert sent[0].json() == {"orderId": "A-1", "amount": 249, "currency": "EUR"}
    assert caller.call(lambda: cs.start_run({"planId": plan["id"]}, idempotency_key=key))["id"] == run["id"]
    other = caller.call(lambda: cs.create_plan(refund_plan("LIVE")))
    with pytest.raises(CountersignError) as raised:
        caller.call(lambda: cs.start_run({"planId": other["id"]}, idempotency_key=key))
    assert (raised.value.code, raised.value.idempotency_key) == ("idempotency_conflict", key)


def test_an_amount_reaches_the_shop_with_every_digit(service: Service, shop: Shop) -> None:
    amount = Decimal("12345678901234567890.0123456789")
    plan = service.operator.create_plan(refund_plan("LIVE", amount))
    assert plan["steps"][0]["input"]["amount"] == amount
    started = service.operator.start_run({"planId": plan["id"]})
    waiting = service.operator.wait_run(started["id"], until="standstill")
    service.approver.decide_approval(waiting["approvalId"], {"decision": "APPROVED", "reason": "it is exact"})
    run = service.operator.wait_run(started["id"])
    assert shop.calls[-1].json()["amount"] == amount
    assert run["steps"][0]["output"]["amount"] == amount


def test_agents_are_synced_admitted_heard_and_run_as_a_team(service: Service, caller: Caller) -> None:
    cs = caller.make(service.url, service.operator_token)
    manifest = {"schemaVersion": "1.0", "agents": [agent("reader", "orders.read"), agent("refunder", "refunds.create")]}
    items = caller.call(lambda: cs.sync_agents(PROJECT, manifest))["items"]
    for item in items:
        service.admin.admit_agent(item["id"], {"reason": "they are ours"})
    reader, refunder = (item["id"] for item in items)
    items = caller.call(lambda: cs.sync_agents(PROJECT, manifest))["items"]

    beat: Any = {"instanceId": f"reader-{type(cs).__name__}", "sequence": 1, "state": "BUSY", "timestamp": datetime.now(timezone.utc).isoformat()}
    ack = caller.call(lambda: cs.heartbeat(reader, beat))
    assert (ack["acknowledged"], ack["duplicate"], ack["liveness"]) == (True, False, "BUSY")
    assert caller.call(lambda: cs.heartbeat(reader, beat))["duplicate"] is True
    with pytest.raises(CountersignError, match="sequence_conflict"):
        caller.call(lambda: cs.heartbeat(reader, {**beat, "sequence": 0}))

    name = f"desk-{type(cs).__name__.lower()}"
    members = [{"agentId": reader, "role": "reads"}, {"agentId": refunder, "role": "refunds"}]
    step: Any = {"id": "read", "name": "read", "agentId": reader, "capability": "orders.read", "input": {"orderId": "A-1"}}
    step["expectation"] = {"field": "status", "equals": "returned"}
    team = caller.call(lambda: cs.save_team(name, {"name": "Desk", "expectedRevision": 0, "members": members, "steps": [step]}))
    run = caller.call(lambda: cs.start_team_run(name, {"expectedRevision": team["revision"], "mode": "LIVE"}))
    assert caller.call(lambda: cs.wait_run(run["id"]))["status"] == "COMPLETED"
    body = {"expectedRevision": items[0]["revision"], "mode": "LIVE", "capability": "orders.read", "inputs": {"orderId": "A-2"}}
    body["expectation"] = {"field": "status", "equals": "returned"}
    alone = caller.call(lambda: cs.start_agent_run(reader, body))
    assert caller.call(lambda: cs.wait_run(alone["id"]))["steps"][0]["verification"]["status"] == "PASSED"


def beater(service: Service, instance: str) -> tuple[str, int]:
    """An agent of which an instance was heard by a clock that was an hour ahead."""
    items = service.operator.sync_agents(PROJECT, {"schemaVersion": "1.0", "agents": [agent("beater", "orders.read")]})["items"]
    ahead = int((datetime.now(timezone.utc) + timedelta(hours=1)).timestamp() * 1000)
    now = datetime.now(timezone.utc).isoformat()
    service.operator.heartbeat(items[0]["id"], {"instanceId": instance, "sequence": ahead, "state": "IDLE", "timestamp": now})
    return items[0]["id"], ahead


def test_the_heartbeat_loop_goes_above_what_its_instance_used_before(service: Service) -> None:
    agent_id, ahead = beater(service, "beater-1")
    heard, errors, acks = threading.Event(), [], []  # type: ignore[var-annotated]

    def on_beat(ack: t.HeartbeatAck) -> None:
        acks.append(ack)
        heard.set()

    with service.operator.start_heartbeat(agent_id, instance_id="beater-1", interval=0.05, on_beat=on_beat, on_error=errors.append) as loop:
        heard.wait()
    assert loop.instance_id == "beater-1"
    assert acks[0]["sequence"] == ahead + 1
    assert [error.code for error in errors] == ["sequence_conflict"]
    assert service.operator.agent(agent_id)["liveness"] == "ONLINE"
    beats = len(acks)
    loop.stop()
    assert len(acks) == beats


def test_the_heartbeat_loop_of_asyncio_does_the_same_and_stops_a_beat_under_way(service: Service) -> None:
    agent_id, ahead = beater(service, "beater-2")
    errors: list[Any] = []

    async def main() -> t.HeartbeatAck:
        heard: asyncio.Future[t.HeartbeatAck] = asyncio.get_running_loop().create_future()
        cs = AsyncCountersign(service.url, service.operator_token)

        def on_beat(ack: t.HeartbeatAck) -> None:
            if not heard.done():
                heard.set_result(ack)

        async with cs.start_heartbeat(agent_id, instance_id="beater-2", interval=0.05, on_beat=on_beat, on_error=errors.append):
            return await heard

    assert asyncio.run(main())["sequence"] == ahead + 1
    assert [error.code for error in errors] == ["sequence_conflict"]


def test_the_whole_log_comes_as_lines(service: Service, caller: Caller) -> None:
    cs = caller.make(service.url, service.admin._transport.settings.token)
    lines = b"".join(caller.collect(cs.export_audit)).splitlines()
    assert lines[0].startswith(b'{"seq":0,') and len(lines) > 3
