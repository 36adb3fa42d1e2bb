"""What a receiver said of a step's key, each time with its signature, and the statement that ended
the step."""

from __future__ import annotations

import re
from calendar import timegm
from datetime import datetime

from .answered import Meant, answer_means, as_meant, statements
from .answerjson import Unreadable, read_answer
from .answers import Answers, Asked
from .canonical import Json
from .capability import hides
from .claims import Claims, at, digits, has, items, of, whole
from .failure import need
from .moment import moment
from .record import Record, done
from .values import encoded, equal

_STATES = ("DONE", "IN_PROGRESS", "UNKNOWN", "UNSEEN", "WITHDRAWN")
_SECOND = 1_000_000_000


def check_statements(answers: Answers, step: Json) -> None:
    """Compares the statements of a step with their signatures."""
    c, name, last = answers.claims, f"step {of(step, 'id')}", 0
    for r in statements(step):
        n = whole(at(r, "n"))
        asked = last < n <= whole(at(step, "questions")) and c.live
        need(asked, "run", f"{name} has a statement whose number no question has")
        last = n
        need(moment(of(r, "at")) != "", "run", f"{name} has a statement at no time in UTC")
        valid = at(r, "valid") is True
        need(valid != has(r, "error"), "run", f"{name} has a statement that is valid and isn't")
        if valid and (at(r, "signed") is None or hides(c, step)):
            answers.unshown += 1
        elif valid:
            _check_said(answers, step, r)


def _check_said(answers: Answers, step: Json, r: Json) -> None:
    """Verifies one statement: its signature, and that the record says what it does."""
    n = digits(at(r, "n"))
    name, key = f"step {of(step, 'id')} has statement {n}", of(step, "idempotencyKey")
    withdrawing = at(r, "withdrawing") is True
    asked = f"{key}~withdraw" if withdrawing else f"{key}~settle-{n}"
    sent = _nanoseconds(of(step, "startedAt"))
    target = f"{_settlement_path(answers.claims, step)}/{key}{'/withdraw' if withdrawing else ''}?sent={(sent or 0) // _SECOND}"
    need(sent is not None and of(r, "target") == target, "run", f"{name} to another question than is asked about its key")
    about = {"step": of(step, "id"), "reason": asked, "digest": of(step, "requestDigest")}
    before = next((i for i, p in enumerate(answers.records) if done(p, action="steps.ask", **about) or done(p, action="steps.withdraw", **about)), -1)
    need(before >= 0, "run", f"{name}, and the log has no such question")
    question = Asked(asked, "POST" if withdrawing else "GET", target, "", 200, before, whole(at(r, "n")))
    body, _ = answers.verify(step, at(r, "signed"), of(r, "keyId"), question)
    try:
        said = read_answer(body)
    except Unreadable:
        said = None
    whole_of = said is not None and of(at(r, "signed"), "signature").endswith(f" {of(r, 'signature')}")
    need(whole_of, "run", f"{name} with another signature or body than its own")
    need(_same_statement(r, said, key, sent or 0), "run", f"{name}, which says something else than its receiver signed")


def _same_statement(r: Json, said: Json, key: str, sent: int) -> bool:
    state = of(said, "state")
    if of(said, "key") != key or state not in _STATES:
        return False
    since = _instant(of(said, "since"))
    forgot = state in ("UNSEEN", "WITHDRAWN") and (since is None or since >= sent - 300 * _SECOND)
    named, state = (state, "UNKNOWN") if forgot else ("", state)
    same_since = not has(r, "since") if since is None else _nanoseconds(of(r, "since")) == since
    status = digits(at(said, "statusCode")) if state == "DONE" else ""
    if state == "DONE" and not re.fullmatch("[2-5][0-9][0-9]", status):
        return False
    kept = state == "DONE" and has(said, "body")
    text = of(said, "text") if state == "DONE" and not kept else ""
    same_body = equal(at(r, "output"), at(said, "body") if kept else None) and of(r, "text") == text
    return of(r, "state") == state and of(r, "said") == named and same_since and digits(at(r, "statusCode")) == status and same_body


def _nanoseconds(value: str) -> int | None:
    """Of a time in the form of receipts."""
    found = moment(value)
    if found == "":
        return None
    return timegm(datetime.strptime(found[:19], "%Y-%m-%dT%H:%M:%S").timetuple()) * _SECOND + int(found[20:])


_INSTANT = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})-([0-9]{2})|([0-9]{2})([0-9]{2}))[Tt]([0-9]{2})"
    r"(?::([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?|([0-9]{2})(?:([0-9]{2})(?:[.,]([0-9]{1,9}))?)?)"
    r"(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)"
)


def _instant(value: str) -> int | None:
    """Of a time as receivers may write it."""
    f = _INSTANT.fullmatch(value)
    if f is None:
        return None
    minute, second, fraction = f[7] or f[10] or "00", f[8] or f[11] or "00", f[9] or f[12] or "0"
    utc = _nanoseconds(f"{f[1]}-{f[2] or f[4]}-{f[3] or f[5]}T{f[6]}:{minute}:{second}.{fraction}Z")
    hours, minutes = int(f[14] or 0), int(f[15] or 0)
    if utc is None or hours > 23 or minutes > 59:
        return None
    zone = (hours * 3600 + minutes * 60) * _SECOND
    return utc + zone if f[13] == "-" else utc - zone


def _settlement_path(c: Claims, step: Json) -> str:
    """Where the plan says that a step's receiver answers about keys."""
    projects = (p for p in items(at(c.plan, "projectSnapshots")) if of(p, "id") == of(step, "projectId"))
    return of(at(next(projects, None), "settlement"), "path")


def _settled_in(records: list[Record], step: Json) -> tuple[str, Record | None]:
    """The number of the statement that the last record of a step's settling names, and that record."""
    found = [r for r in records if done(r, action="steps.settle", step=of(step, "id"))]
    if not found:
        return "", None
    number = re.match("statement ([0-9]+) ", found[-1].word("reason"))
    return number[1] if number else "", found[-1]


def check_settled(answers: Answers, step: Json) -> None:
    """Compares the end of a settled step with the statement that the log names."""
    c, by, name = answers.claims, at(step, "settledBy"), f"step {of(step, 'id')}"
    if by is None or c.masked:
        return
    n, _ = _settled_in(answers.records, step)
    r = next((found for found in statements(step) if digits(at(found, "n")) == n), None)
    signed = at(r, "valid") is True and of(r, "keyId") == of(by, "keyId")
    need(signed, "run", f"{name} was settled by a statement that its receiver didn't sign")
    if of(r, "state") == "WITHDRAWN":
        return as_meant(c, step, Meant("FAILED", "withdrawn"))
    need(of(r, "state") == "DONE", "run", f"{name} was settled by a statement that decides nothing")
    same = digits(at(at(step, "response"), "statusCode")) == digits(at(r, "statusCode"))
    need(same, "run", f"{name} has another response than the statement that settled it")
    body = encoded(at(r, "output")) if has(r, "output") else of(r, "text")
    meant = answer_means(c, step, whole(at(r, "statusCode")), body.encode(), 1)
    need(meant is not None, "run", f"{name} was settled by an answer that doesn't say what became of it")
    if meant is not None:
        as_meant(c, step, meant)


def check_settling(c: Claims, step: Json, records: list[Record], left_out: int) -> None:
    """Compares what the log says of the questions about a step's key, and of its settling, with the step."""
    if hides(c, step) or (c.masked and left_out > 0):
        return
    name, by = of(step, "id"), at(step, "settledBy")
    logged = [f"{r.word('at')} {r.word('reason')}" for r in records if done(r, action="steps.statement", step=name)]
    shown = [f"{of(r, 'at')} {digits(at(r, 'n'))}: {of(r, 'state') or 'no statement'}" for r in statements(step)]
    need(logged == shown, "audit", f"the log does not say that the receiver of step {name} said so")
    n, record = _settled_in(records, step)
    need((record is not None) == (by is not None), "audit", f"the log does not say that step {name} was settled, or says so")
    if record is None:
        return
    r = next((found for found in statements(step) if digits(at(found, "n")) == n), None)
    state = f"DONE {digits(at(r, 'statusCode'))}" if of(r, "state") == "DONE" else of(r, "state")
    words = f"statement {n} of the receiver: {state}, signed with answer key {of(by, 'keyId')}"
    same = done(record, reason=words, at=of(by, "at"), actor="system", digest=of(step, "requestDigest"))
    need(same, "audit", f"the log does not say that step {name} was settled so")
