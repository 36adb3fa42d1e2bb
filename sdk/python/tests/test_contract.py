"""The SDK covers the API as the binary describes it, word for word."""

from __future__ import annotations

import re
from typing import Any, get_type_hints

import pytest
from generate import generated
from operations import method_name
from support.service import Service

from countersign import ERROR_CODES, AsyncCountersign, Countersign, types

OWN = {"wait_run", "start_heartbeat", "tools"}


@pytest.fixture(scope="module")
def document(service: Service) -> dict[str, Any]:
    return service.admin.openapi()


def test_the_generated_files_are_those_of_the_binarys_document(document: dict[str, Any]) -> None:
    for path, text in generated(document).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is stale: python3 scripts/generate.py <the binary's /openapi.json>"


@pytest.mark.parametrize("client", [Countersign, AsyncCountersign])
def test_every_operation_has_a_method_and_every_method_but_our_own_an_operation(document: dict[str, Any], client: type) -> None:
    operations = {method_name(operation["operationId"]) for methods in document["paths"].values() for operation in methods.values()}
    assert {name for name in dir(client) if not name.startswith("_")} - OWN == operations


def test_the_operations_that_every_sdk_has_are_there(service: Service) -> None:
    for name in service.admin.integration_contract()["sdkOperations"]:
        assert hasattr(Countersign, re.sub(r"(?=[A-Z])", "_", name).lower())


def test_the_error_codes_are_those_of_the_contract(service: Service) -> None:
    assert service.admin.integration_contract()["errorCodes"] == ERROR_CODES


def test_lists_that_stay_open_take_what_a_newer_service_adds() -> None:
    error: types.StepError = {"code": "a_newer_code", "message": "what counts is that mypy takes it"}
    assert error["code"] not in ERROR_CODES
    assert get_type_hints(types.ApprovalRule)["when"] == types.Condition
