"""Plans that pay back."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from countersign import types as t

from .service import PROJECT, Service


def refund_plan(mode: Any, amount: t.Number | None = None) -> t.PlanWrite:
    read: t.Step = {
        "id": "read-order",
        "name": "read",
        "projectId": PROJECT,
        "capability": "orders.read",
        "input": {"orderId": "A-1"},
        "expectation": {"field": "status", "equals": "returned"},
    }
    refund: t.Step = {
        "id": "refund",
        "name": "refund",
        "projectId": PROJECT,
        "capability": "refunds.create",
        "input": {"orderId": "A-1", "currency": "EUR"},
        "dependsOn": ["read-order"],
        "inputBindings": {"amount": {"stepId": "read-order", "field": "total"}},
        "expectation": {"field": "status", "equals": "succeeded"},
    }
    if amount is not None:
        refund["input"] = {"orderId": "A-1", "currency": "EUR", "amount": amount}
        del refund["inputBindings"], refund["dependsOn"]
    return {"name": "refund one order", "modelId": "refund-agent", "modelRevision": 1, "mode": mode, "steps": [read, refund] if amount is None else [refund]}


def waiting_run(service: Service) -> tuple[str, Callable[[], Any]]:
    """A LIVE run that waits for an approval, and what approves it."""
    plan = service.operator.create_plan(refund_plan("LIVE", Decimal("1.50")))
    started = service.operator.start_run({"planId": plan["id"]})
    waiting = service.operator.wait_run(started["id"], until="standstill")
    approval = waiting["approvalId"]
    return started["id"], lambda: service.approver.decide_approval(approval, {"decision": "APPROVED", "reason": "it is right"})
