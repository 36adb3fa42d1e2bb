"""The examples run as their comments say, and keep the law of receivers, which the
service's own check judges."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.binary import REPOSITORY
from support.process import Program, ended, run_to_end
from support.service import SHOP_SECRET, start_service

SHOPS = ["flask_shop", "fastapi_shop", "django_shop"]
EXAMPLES = REPOSITORY / "examples/python"
Start = Callable[[str], Program]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    env = {"PYTHONPATH": str(REPOSITORY / "sdk/python"), "PYTHONDONTWRITEBYTECODE": "1", "SHOP_SECRET": SHOP_SECRET}
    with ended() as programs:

        def started(name: str) -> Program:
            command = [sys.executable, str(EXAMPLES / f"{name}.py"), "127.0.0.1:0"]
            programs.append(Program(command, {**env, "SHOP_DATABASE": str(tmp_path / f"{name}.db")}))
            return programs[-1]

        yield started


@pytest.mark.parametrize("name", SHOPS)
def test_the_services_own_check_finds_that_the_shop_deduplicates(binary: str, start: Start, name: str) -> None:
    shop = start(name)
    orders = [("A-48213", 249), ("A-48377", 64.5), ("A-48411", 12)]  # each is paid back only once
    inputs = [word for order, amount in orders for word in ("--input", json.dumps({"orderId": order, "amount": amount, "currency": "EUR"}))]
    project = str(REPOSITORY / "docs/example/project.json")
    command = [binary, "check-receiver", shop.url, "--capability", "refunds.create", "--project", project, *inputs, "--secret-env", "SHOP_SECRET"]
    status, text = run_to_end(command, {"SHOP_SECRET": SHOP_SECRET})
    assert "PROVEN to deduplicate" in text, text
    assert "BROKEN" not in text and "NOT_TRIED" not in text and status == 0


@pytest.mark.parametrize("name", SHOPS)
def test_a_run_is_called_through_the_shop_and_verified(binary: str, start: Start, tmp_path: Path, name: str) -> None:
    shop = start(name)
    with ended() as programs:
        service = start_service(binary, programs, tmp_path, shop.url)
        service.register_shop(shop.url)
        plan = service.operator.create_plan(
            {
                "name": "refund one order",
                "modelId": "refund-agent",
                "modelRevision": 1,
                "mode": "LIVE",
                "steps": [
                    {
                        "id": "refund",
                        "name": "refund",
                        "projectId": "default-shop",
                        "capability": "refunds.create",
                        "input": {"orderId": "A-48213", "amount": 249, "currency": "EUR"},
                        "expectation": {"field": "status", "equals": "succeeded"},
                    }
                ],
            }
        )
        started = service.operator.start_run({"planId": plan["id"]}, idempotency_key="refund-of-A-48213")
        waiting = service.operator.wait_run(started["id"], until="standstill")
        service.approver.decide_approval(waiting["approvalId"], {"decision": "APPROVED", "reason": "the order came back"})
        run = service.operator.wait_run(started["id"])
        assert (run["status"], run["steps"][0]["status"]) == ("COMPLETED", "COMPLETED")


@pytest.mark.parametrize("name", SHOPS)
def test_a_shop_does_not_come_up_without_a_secret(name: str, tmp_path: Path) -> None:
    env = {"PYTHONPATH": str(REPOSITORY / "sdk/python"), "PYTHONDONTWRITEBYTECODE": "1", "SHOP_DATABASE": str(tmp_path / "shop.db")}
    status, text = run_to_end([sys.executable, str(EXAMPLES / f"{name}.py"), "127.0.0.1:0"], env)
    assert status == 1 and "secrets: there is none" in text
