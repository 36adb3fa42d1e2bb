"""Who gets in: what every kind of server does with a request before a handler sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from .answer import Reply, problem
from .remember import Remembering, log_error
from .signature import Call, HeadersIn, SignatureError, has_secrets, verify_signature
from .store import Store, Transactor


@dataclass(frozen=True)
class Gate:
    """What a receiver is made of."""

    secrets: Sequence[str | bytes]
    """Those that are accepted: one, or two while the secret is changed."""
    store: Store | Transactor
    window_seconds: float = 300
    """How far a call's timestamp may be from now, both ways."""
    in_progress: timedelta = timedelta(minutes=2)
    """How long a claim of another process counts as in progress; then it is in doubt."""
    clock: Callable[[], float] = time.time
    """Unix seconds."""
    on_error: Callable[[BaseException], None] = log_error
    """Is told what goes wrong with the store; default: the log countersign.receiver."""

    def __post_init__(self) -> None:
        if not has_secrets(self.secrets):
            raise ValueError("secrets: there is none, or an empty one; is the environment variable set?")

    @property
    def remembering(self) -> Remembering:
        return Remembering(self.store, self.in_progress, lambda: datetime.fromtimestamp(self.clock(), timezone.utc), self.on_error)

    def admit(self, method: str, target: str, headers: HeadersIn, body: bytes) -> Call | Reply:
        """The verified call, or the answer that refuses it."""
        try:
            return verify_signature(
                secrets=self.secrets,
                method=method,
                target=target,
                headers=headers,
                body=body,
                now=self.clock(),
                window_seconds=self.window_seconds,
            )
        except SignatureError as error:
            return problem(401, error.reason, str(error))


def has_effect(method: str) -> bool:
    """Whether a call can have a side effect; what can't is not remembered."""
    return method not in ("GET", "HEAD")


def too_large() -> Reply:
    return problem(413, "payload_too_large", "a body has at most 1 MiB", Connection="close")
