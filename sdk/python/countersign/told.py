"""What a model is told of a call that failed."""

from __future__ import annotations

from typing import Any

from .errors import CountersignConnectionError, CountersignError

_INTERNAL_ERROR = -32603
_LEAVE_IT = "tell whom you work for, and don't try it in another way"


class ToolError(Exception):
    """The door did not take a message, such as a call of a tool that the agent doesn't have."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        """Of JSON-RPC."""


class ArgumentsError(ValueError):
    """A tool's arguments are no object, or have a number of which nobody knows the digits.
    Nothing was sent."""


def told(error: BaseException, *, harmless: bool, again: bool) -> dict[str, Any] | None:
    """What a model is told; None where the error is none that a model can be told.
    harmless: nothing is changed by the call, a read or a rehearsal."""
    if isinstance(error, ArgumentsError):
        return _answer("REFUSED", "invalid_arguments", f"nothing was sent, for {error}: correct the arguments")
    if isinstance(error, ToolError):
        if error.code == _INTERNAL_ERROR:
            return _answer("UNKNOWN", "internal", _lost(harmless, again))
        return _answer("REFUSED", "invalid_request", f"nothing was sent, for {error}: {_LEAVE_IT}")
    if isinstance(error, CountersignConnectionError):
        return _answer("UNKNOWN", "no_answer", _lost(harmless, again))
    if not isinstance(error, CountersignError):
        return None
    if error.status == 503:
        answer = _answer(
            "REFUSED",
            error.code,
            f"nothing was begun, for {error.message}: make the very same call again later, and don't do it in another way",
        )
    elif error.status >= 500:
        answer = _answer("UNKNOWN", error.code, _lost(harmless, again))
    else:
        answer = _answer("REFUSED", error.code, f"nothing was sent, for {error.message}: {_LEAVE_IT}")
    if error.retry_after is not None:
        answer["retryAfter"] = error.retry_after
    if error.request_id is not None:
        answer["requestId"] = error.request_id
    return answer


def _lost(harmless: bool, again: bool) -> str:
    if harmless:
        return "no answer came, and nothing is changed by this call: make the same call again"
    if again:
        return (
            "no answer came, and nobody knows whether this call arrived: make the same call without again, which finds the newest run, "
            "whose startedAt says whether it is this call's; don't do it in another way"
        )
    return (
        "no answer came, and nobody knows whether this call arrived: make the very same call again, with the same arguments, "
        "which finds its run if it did; don't do it in another way"
    )


def _answer(outcome: str, error: str, message: str) -> dict[str, Any]:
    sentence = message[:1].upper() + message[1:] + "."
    return {"outcome": outcome, "error": error, "message": sentence, "url": None, "runId": None, "startedAt": None, "replayed": False}
