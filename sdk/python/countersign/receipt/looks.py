"""The reads that were made for a step's precondition: each has its records, and each sending rests
on the last of them."""

from __future__ import annotations

import calendar
import time

from .canonical import Json
from .claims import Claims, at, digits, has, items, of, whole
from .failure import need
from .gate import let_out
from .gaterules import judge
from .moment import moment
from .record import Record, done
from .rules import gated
from .states import Check, Course, found, is_state, look_key, precondition_of, state_digest_of
from .values import equal

_TEN_SECONDS = 10_000_000_000


def check_looks(c: Claims, log: Course) -> None:
    """Compares the looks of each step with its precondition and with the log."""
    if c.masked:
        return
    for step in c.steps:
        _as_looked(c, step, _of_step(step, "run"))
        _look_records(step, log.records, _of_step(step, "run"))


def check_sendings(c: Claims, log: Course) -> None:
    """Compares what was sent with what was looked at, and on what it was approved."""
    if c.masked:
        return
    for step in c.steps:
        _sent_on_state(c, step, log, _of_step(step, "approvals"))


def _of_step(step: Json, section: str) -> Check:
    return lambda ok, problem: need(ok, section, f"step {of(step, 'id')} {problem}")


def _as_looked(c: Claims, step: Json, check: Check) -> None:
    """Checks the looks of a step by themselves."""
    pre, would, looks = precondition_of(c, step), at(step, "wouldCheck"), items(at(step, "looks"))
    there = (would is not None) == (pre is not None and of(step, "status") == "SIMULATED")
    check(there, "says what would be looked at where nothing would, or doesn't say it")
    same = of(would, "capability") == of(pre, "capability") and all(equal(at(would, name), at(pre, name)) for name in ("fields", "when"))
    check(would is None or same, "says that something else would be looked at than its precondition")
    some = looks != [] or of(step, "stateDigest") != "" or whole(at(step, "askedAgain")) > 0
    check(not some or (c.live and pre is not None), "was looked at, and its capability has no precondition")
    for i, look in enumerate(looks):
        digest = of(look, "stateDigest")
        named = whole(at(look, "n")) == i + 1 and of(look, "capability") == of(pre, "capability") and moment(of(look, "at")) != ""
        check(named, "has a look that is not one of its precondition, with a number and at a time")
        right = not has(look, "values") or (is_state(pre, look) and state_digest_of(look) == digest)
        check(right, "shows another state than the one of its look's stateDigest")
        check(digest == "" or found(step, digest) is not None, "has a look whose state it does not show")
        says = digest != "" or of(look, "error") != "" or whole(at(look, "statusCode")) <= 0
        check(says, "has a look that was answered, and does not say what it found")
    counted = max(0, whole(at(step, "askedAgain"))) == _asked_again(c, step)
    check(counted, "says that it was asked for anew as often as it was not")


def _asked_again(c: Claims, step: Json) -> int:
    """How often approval of a step's next sending was asked for anew since the state had changed."""
    following = whole(at(step, "attempt")) + 1
    those = [a for a in items(c.approvals) if of(a, "stepId") == of(step, "id") and whole(at(a, "attempt")) == following]
    return max(0, whole(at(those[-1], "askedAgain"))) if those else 0


def _look_records(step: Json, records: list[Record], check: Check) -> None:
    """Compares each look with the records of its intent and of what came of it; there are no others."""
    name, looks = of(step, "id"), items(at(step, "looks"))
    ends = sum(done(r, action="steps.looked", step=name) for r in records)
    for look in looks:
        by, error, key = of(look, "by"), of(look, "error"), look_key(step, look)
        action = "approvals.look" if by else "steps.look"
        wanted = {"step": name, "actor": by or "system", "digest": of(look, "requestDigest")}
        begun = _place(records, 0, action=action, reason=key, stateDigest="", **wanted)
        let = begun >= 0 and moment(records[begun].word("at")) == moment(of(look, "at"))
        check(let, "has a look of which the log does not say that it was let out so")
        if error == "" and of(look, "stateDigest") == "":
            continue  # nobody knows what came of it
        came = error or f"answered {digits(at(look, 'statusCode'))}"
        ended = _place(records, begun, action="steps.looked", reason=f"{key}: {came}", stateDigest=of(look, "stateDigest"), **wanted)
        check(ended >= 0, "has a look that found something else than the log says")
        ends -= 1
    begins = sum(done(r, action=action, step=name) for r in records for action in ("steps.look", "approvals.look"))
    check(begins == len(looks) and ends == 0, "was looked at more often than it says, as the log has it")


def _place(records: list[Record], start: int, **wanted: str) -> int:
    return next((i for i in range(start, len(records)) if done(records[i], **wanted)), -1)


def _sent_on_state(c: Claims, step: Json, log: Course, check: Check) -> None:
    """Each sending rests on a look of ten seconds before at most, on what must be so, and where it
    needed approval on one of the very state that the look found."""
    name, pre, attempt, last = of(step, "id"), precondition_of(c, step), 0, ""
    for sending, r in enumerate(log.records):
        if not done(r, action="step.send", step=name):
            continue
        attempt, last = attempt + 1, r.word("stateDigest")
        check(pre is not None or last == "", "was sent on a state, as the log says, and its capability has no precondition")
        if pre is None:
            continue
        looked = last != "" and _looked_before(log.records, name, last, sending)
        check(looked, "was sent, and the log does not say that this state was read within ten seconds before")
        approved = any(
            log.decided.get(of(a, "id"), sending) < sending and of(a, "stateDigest") == last and at(a, "superseded") is not True
            for a in let_out(c, step, attempt)
        )
        check(not gated(c, step) or approved, "was sent on another state than the one that was approved")
        check(_holds_over(pre, found(step, last)), "was sent on a state in which what must be so does not hold")
    check(last == of(step, "stateDigest"), "says that it was sent on another state than the log")


def _holds_over(pre: Json, look: Json) -> bool:
    when = at(pre, "when")
    if when is None or look is None:
        return look is not None
    rule: Json = {"when": when, "then": "ALLOW"}
    return judge(0, [rule], True, at(look, "values"), []).then == "ALLOW"


def _nanoseconds(value: str) -> int | None:
    form = moment(value)
    if form == "":
        return None
    return calendar.timegm(time.strptime(form[:19], "%Y-%m-%dT%H:%M:%S")) * 1_000_000_000 + int(form[20:])


def _looked_before(records: list[Record], name: str, digest: str, sending: int) -> bool:
    """Whether the last look before a sending found this state, and began ten seconds before at most."""
    for looked in range(sending - 1, -1, -1):
        record = records[looked]
        if not done(record, action="steps.looked", step=name, actor="system"):
            continue
        key = record.word("reason").split(": ")[0]
        began = [r for r in records[:looked] if done(r, action="steps.look", step=name, reason=key)]
        if record.word("stateDigest") != digest or not began or not record.word("reason").startswith(f"{key}: answered "):
            return False
        first, then = _nanoseconds(began[-1].word("at")), _nanoseconds(records[sending].word("at"))
        return first is not None and then is not None and then - first <= _TEN_SECONDS
    return False
