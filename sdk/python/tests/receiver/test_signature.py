"""The vectors that the Go definition is checked by, read from the repository."""

from __future__ import annotations

import base64
import json
from datetime import datetime, timezone
from typing import Any

import pytest
from support.binary import REPOSITORY

from countersign.receiver import Gate, MemoryStore, SignatureError, verify_signature

VECTORS: list[Any] = json.loads((REPOSITORY / "receiver/testdata/signature-vectors.json").read_text())
VALID = next(vector for vector in VECTORS if vector["valid"])


def request(vector: Any, **other: Any) -> dict[str, Any]:
    names = ("secrets", "method", "target", "headers", "now")
    return {**{name: vector[name] for name in names}, "body": base64.b64decode(vector["bodyBase64"]), **other}


def verdict(vector: Any) -> str:
    try:
        verify_signature(**request(vector))
    except SignatureError as error:
        return error.reason
    return ""


@pytest.mark.parametrize("vector", [pytest.param(vector, id=vector["name"]) for vector in VECTORS])
def test_each_shared_vector_has_its_verdict(vector: Any) -> None:
    assert verdict(vector) == ("" if vector["valid"] else vector["reason"])


def test_there_are_enough_vectors_of_each_kind() -> None:
    assert len(VECTORS) >= 100
    assert {vector["reason"] for vector in VECTORS} == {"", "line_break", "missing_header", "no_secret", "signature", "timestamp"}


def test_a_verified_call_says_what_it_is() -> None:
    call = verify_signature(**request(VALID))
    assert (call.method, call.target, call.run_id, call.step_id) == (VALID["method"], VALID["target"], "run-1", "refund")
    assert call.idempotency_key == "run-1.refund"
    assert call.sent_at == datetime.fromtimestamp(1767225600, timezone.utc)


def test_headers_may_come_as_pairs_where_a_repeated_one_shows() -> None:
    pairs = list(VALID["headers"].items())
    assert verify_signature(**request(VALID, headers=pairs)).run_id == "run-1"
    with pytest.raises(SignatureError, match="missing_header"):
        verify_signature(**request(VALID, headers=[*pairs, ("idempotency-key", "run-1.refund")]))


def test_no_secret_shows_in_a_refusal() -> None:
    with pytest.raises(SignatureError) as raised:
        verify_signature(**request(VALID, secrets=["do-not-show"]))
    assert "do-not-show" not in str(raised.value)


def test_a_text_is_no_list_of_secrets() -> None:
    for secrets in ("abc", b"abc"):
        with pytest.raises(TypeError):
            verify_signature(**request(VALID, secrets=secrets))
    empties: list[list[str]] = [[], [""], ["good", ""]]
    for empty in empties:
        with pytest.raises(ValueError, match="secret"):
            Gate(secrets=empty, store=MemoryStore())
