"""What goes wrong: the service's own answers, and answers that never came."""

from __future__ import annotations

ERROR_CODES: dict[str, int] = {
    "agent_not_admitted": 409,
    "approval_expired": 409,
    "capacity": 503,
    "change_proposed": 409,
    "credential_not_allowed": 400,
    "csrf": 403,
    "drift": 409,
    "expectation_not_met": 409,
    "expectation_required": 400,
    "health_check_required": 409,
    "idempotency_conflict": 409,
    "idempotency_key_required": 400,
    "internal": 500,
    "invalid_json": 400,
    "invalid_request": 400,
    "manifest_conflict": 409,
    "method_not_allowed": 405,
    "model_invalid": 409,
    "not_found": 404,
    "origin_not_allowed": 400,
    "payload_too_large": 413,
    "plan_invalid": 409,
    "project_disabled": 409,
    "project_in_use": 409,
    "project_scope": 403,
    "quota_exceeded": 409,
    "revision_conflict": 409,
    "role_required": 403,
    "self_approval": 403,
    "assertion_required": 403,
    "assertion_invalid": 403,
    "sequence_conflict": 409,
    "state_conflict": 409,
    "unauthenticated": 401,
    "unavailable": 503,
}
"""The codes of the service with their status, as GET /integrations/contract publishes them."""


class CountersignError(Exception):
    """The service's own answer; below status 500 a refusal: nothing was done."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int,
        request_id: str | None = None,
        retry_after: int | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        """Finds the request in the service's log."""
        self.retry_after = retry_after
        """How long the service asks to wait, in seconds."""
        self.idempotency_key = idempotency_key
        """Of a run start: ask again with it."""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class CountersignConnectionError(Exception):
    """No answer, or none that can be read: whether the service carried the request out
    is not known. A run start may be asked again with the same idempotency_key; for any
    other write, read first what became of it."""

    def __init__(self, message: str, *, status: int | None = None, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The status, where one came: of a proxy's page, say."""
        self.idempotency_key = idempotency_key


def is_temporary(error: BaseException) -> bool:
    """Whether waiting may help: nothing came, or the service says that it can't just now."""
    return isinstance(error, CountersignConnectionError) or (isinstance(error, CountersignError) and error.status >= 500)
