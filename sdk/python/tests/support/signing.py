"""Signs as the service does; written apart from what verifies."""

from __future__ import annotations

import hashlib
import hmac
import time

SECRET = "secret-of-these-tests"


def signed(method: str, target: str, body: bytes = b"", *, key: str = "run-1.refund", secret: str = SECRET, at: int | None = None) -> dict[str, str]:
    moment = str(int(time.time()) if at is None else at)
    text = "\n".join([method, target, moment, key, "run-1", "refund", hashlib.sha256(body).hexdigest()])
    return {
        "Idempotency-Key": key,
        "X-Runtime-Run-Id": "run-1",
        "X-Runtime-Step-Id": "refund",
        "X-Runtime-Timestamp": moment,
        "X-Runtime-Signature": "sha256=" + hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest(),
    }
