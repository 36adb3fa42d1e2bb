"""Checks what the sections of a receipt say of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .agree import check_plan, check_run, check_steps
from .answers import Answers, SignedAnswer, check_answer, signs_something
from .asked import check_approvals, check_asked
from .claims import Claims, at, of
from .cosigned import Cosigned
from .failure import need
from .gate import check_gate
from .log import check_audit
from .looks import check_looks, check_sendings
from .moment import moment
from .redacted import check_redacted
from .requests import check_requests
from .settled import check_settled, check_statements
from .states import check_states
from .witnesses import Policy


@dataclass(frozen=True)
class Told:
    """What a receipt says, as far as it was checked."""

    summary: str
    """The first line of the verdict: the epoch of the log, where the receipt has a cosigned head,
    "valid", and what was left out."""
    run_id: str
    status: str
    mode: str
    tenant_id: str
    issued_at: str
    masked: bool
    """It was made for somebody who must not see sensitive values."""
    redacted: bool
    """What the run held was removed."""
    tree_size: int
    """Of the signed tree head; compare it with what the log says later."""
    tree_root: str
    records: int
    """Audit records that are proven to stand in the log."""
    left_out: int
    requests: int
    """Distinct requests."""
    hidden: int
    """Those of them that are masked and not checked."""
    approved: int
    unlogged: int
    """Decisions whose audit record masking left out: only the signature says them."""
    cosigned: Cosigned | None = None
    """The head of the log that contains the receipt and that witnesses have cosigned; None if it
    has none."""
    answers: tuple[SignedAnswer, ...] = ()
    """Those that their receivers signed."""
    unshown: int = 0
    """Answers that are said to be signed, and whose signature isn't shown."""


def meaning(c: Claims, policy: Policy, answer_keys: Sequence[str] = ()) -> Told:
    need(isinstance(at(c.statement, "masked"), bool), "statement", "masked must be true or false")
    issued_at = of(c.statement, "issuedAt")
    at_head = moment(issued_at) != "" and issued_at == of(at(c.audit, "head"), "at")
    need(at_head, "statement", "issuedAt must be a time in UTC, that of the tree head")
    run_id = of(c.run, "id")
    need(run_id != "" and of(c.statement, "runId") == run_id, "statement", "it is about another run than the section run")
    check_redacted(c)
    check_run(c)
    plan_hidden = check_plan(c)
    check_steps(c)
    check_approvals(c)
    requests, hidden = check_requests(c)
    check_asked(c)
    check_gate(c)
    log = check_audit(c, policy)
    answers = Answers(c, log.placed, answer_keys)
    for step in c.steps:
        check_answer(answers, step)
        check_statements(answers, step)
        check_settled(answers, step)
    signs_something(answers)
    check_states(c, log.course)
    check_looks(c, log.course)
    check_sendings(c, log.course)
    return Told(
        summary=_epoch(log.cosigned) + _summary(c.masked, c.redacted, plan_hidden, hidden, log.unlogged, answers.unshown, log.left_out),
        run_id=run_id,
        status=of(c.run, "status"),
        mode=of(c.run, "mode"),
        tenant_id=of(c.statement, "tenantId"),
        issued_at=issued_at,
        masked=c.masked,
        redacted=c.redacted,
        tree_size=log.tree_size,
        tree_root=log.tree_root,
        records=log.records,
        left_out=log.left_out,
        requests=requests,
        hidden=hidden,
        approved=log.approved,
        unlogged=log.unlogged,
        cosigned=log.cosigned,
        answers=tuple(answers.found),
        unshown=answers.unshown,
    )


def _epoch(cosigned: Cosigned | None) -> str:
    """A log of another epoch is another log."""
    if cosigned is None:
        return ""
    return "of the first epoch of its log: " if cosigned.epoch == 0 else f"of epoch {cosigned.epoch} of its log: "


def _summary(masked: bool, redacted: bool, plan_hidden: bool, hidden: int, unlogged: int, unshown: int, left_out: int) -> str:
    """Who reads no further must know what is not in it."""
    parts = ["what it held"] if redacted else ["sensitive values"] if masked else []
    by = "the run was redacted, which " if redacted else "masking " if masked else ""
    parts += ["the plan's digest"] if masked and plan_hidden else []
    for count, one, many in (
        (hidden, "request", "requests"),
        (unlogged, "decision's audit record", "decisions' audit records"),
        (unshown, "answer's signature", "answers' signatures"),
        (left_out, "audit record in all", "audit records in all"),
    ):
        parts += [f"{count} {one if count == 1 else many}"] if count else []
    return f"valid for what it shows; {by}left out: {', '.join(parts)}" if parts else "valid"
