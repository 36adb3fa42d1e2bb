"""Nothing is sent without the approval that it needs: a receipt of a run in which something
was holds only with that approval in it, decided in time, for what was sent, and by whom
the log says."""

from __future__ import annotations

from dataclasses import dataclass

from .canonical import Json
from .capability import hides
from .claims import Claims, at, items, of, whole
from .failure import need
from .moment import before
from .record import Record, done
from .rules import enough, gated


def check_gate(c: Claims) -> None:
    """Finds the approval that let each sending of each step out."""
    for step in c.steps:
        if not c.live or whole(at(step, "attempt")) <= 0 or not gated(c, step):
            continue
        problem = f"step {of(step, 'id')} needs approval and was sent without one that was given in time for what it sent"
        for attempt in range(1, whole(at(step, "attempt")) + 1):
            need(bool(let_out(c, step, attempt)), "approvals", problem)


def let_out(c: Claims, step: Json, attempt: int) -> list[Json]:
    """The approvals that let one sending out, as they say themselves. One that expires
    before its step begins is asked for anew."""

    def lets(a: Json) -> bool:
        same = of(a, "stepId") == of(step, "id") and whole(at(a, "attempt")) == attempt and of(a, "requestDigest") == of(step, "requestDigest")
        decided = of(a, "decidedBy") not in ("", "system") and of(a, "status") == "APPROVED"
        return same and decided and before(of(a, "decidedAt"), of(a, "expiresAt")) and enough(a)

    return [a for a in items(c.approvals) if lets(a)]


@dataclass(frozen=True)
class Sendings:
    """The records of the log, with the approvals whose decisions are known by their place in it."""

    records: list[Record]
    decided: dict[str, int]


def check_sent(c: Claims, step: Json, log: Sendings) -> None:
    """Finds the record of each sending of a step and, where it needs approval, that of the decision before it."""
    if not c.live or hides(c, step):
        return
    name = of(step, "id")
    sent = [i for i, r in enumerate(log.records) if done(r, action="step.send", step=name)]
    sendings = [i for i in sent if done(log.records[i], digest=of(step, "requestDigest"))]
    told = len(sendings) == whole(at(step, "attempt"))
    need(told, "audit", f"the log does not say that step {name} sent this request, and as often as it says")
    need(len(sent) == len(sendings), "audit", f"the log says that step {name} sent another request")
    last = not sendings or log.records[sendings[-1]].word("at") == of(step, "startedAt")
    need(last, "audit", f"the log does not say that step {name} was last sent when it says")
    for n, sending in enumerate(sendings):
        approved = any(
            log.decided.get(of(a, "id"), sending) < sending and before(log.records[sending].word("at"), of(a, "expiresAt"))
            for a in let_out(c, step, n + 1)
        )
        need(not gated(c, step) or approved, "audit", f"the log does not say that step {name} was approved, in time, before it was sent")
