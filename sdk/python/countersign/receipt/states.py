"""What a precondition read is that on which it was approved, and was read before it was sent:
as far as the log has it. Masking leaves it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .agree import revision
from .canonical import Json
from .capability import capability
from .claims import Claims, at, digits, has, items, members, of, sha256, text, whole
from .failure import need
from .moment import moment
from .record import Record, done
from .values import encoded, equal, same_query


@dataclass(frozen=True)
class Course:
    """The records of the log, with the places of those of the approvals' requests and decisions."""

    records: list[Record]
    asked: dict[str, int]
    decided: dict[str, int]


Check = Callable[[bool, str], None]


def check_states(c: Claims, log: Course) -> None:
    """Compares the states that approvals show with what was read, with each other and with the log."""
    if c.masked:
        return
    for a in items(c.approvals):
        step = next(s for s in c.steps if of(s, "id") == of(a, "stepId"))
        _as_read(c, step, a, _of_approval(a))
        _as_changed(c, step, a, _of_approval(a))
        _as_decided_on(step, a, log, _of_approval(a))


def _of_approval(a: Json) -> Check:
    return lambda ok, problem: need(ok, "approvals", f"approval {of(a, 'id')} {problem}")


def precondition_of(c: Claims, step: Json) -> Json:
    return at(capability(c, step), "precondition")


def state_digest_of(value: Json) -> str:
    state: Json = {"capability": of(value, "capability"), "fields": members(at(value, "values"))}
    return sha256(encoded(state).encode())


def is_state(pre: Json, state: Json) -> bool:
    """Whether values are of exactly the fields that the precondition reads."""
    fields, values = [text(name) for name in items(at(pre, "fields"))], members(at(state, "values"))
    return of(state, "capability") == of(pre, "capability") and len(values) == len(fields) and all(name in values for name in fields)


def _look_of(step: Json, a: Json) -> Json:
    """The look whose state an approval shows."""
    state = at(a, "state")

    def shown(look: Json) -> bool:
        same = of(look, "at") == of(state, "at") and of(look, "stateDigest") == of(a, "stateDigest")
        return same and of(look, "requestDigest") == of(state, "requestDigest") and equal(at(look, "statusCode"), at(state, "statusCode"))

    return next((look for look in items(at(step, "looks")) if shown(look)), None)


def _as_read(c: Claims, step: Json, a: Json, check: Check) -> None:
    pre, digest, state = precondition_of(c, step), of(a, "stateDigest"), at(a, "state")
    there = (pre is not None) == (state is not None) == (digest != "")
    check(there, "shows a state where there is no precondition, or none where there is one")
    if state is None:
        return
    check(is_state(pre, state) and state_digest_of(state) == digest, "shows another state than the one of its stateDigest")
    check(_look_of(step, a) is not None, "shows a state that no look of its step has found")
    read = at(state, "request")
    texts = [of(read, "method"), of(read, "url"), "", of(step, "projectId"), revision(c, of(step, "projectId")), of(state, "capability")]
    if at(read, "headers") is not None:
        texts.append(encoded(at(read, "headers")))
    digested = sha256(*(b"%d:%s," % (len(part), part) for part in (one.encode() for one in texts)))
    shows = at(read, "body") is None and same_query(at(read, "query"), of(read, "url"))
    check(shows and digested == of(state, "requestDigest"), "shows another read than the one of its state's requestDigest")


def _as_changed(c: Claims, step: Json, a: Json, check: Check) -> None:
    every = items(c.approvals)
    place, previous = [of(b, "id") for b in every].index(of(a, "id")), of(a, "previousApprovalId")
    same = [b for b in every[:place] if of(b, "stepId") == of(a, "stepId") and equal(at(b, "attempt"), at(a, "attempt"))]
    before = next((b for b in same if of(b, "id") == previous), None)
    after = any(of(b, "previousApprovalId") == of(a, "id") for b in every[place + 1 :])
    check((previous != "") == (before is not None), "names an approval before it that there is not")
    told = (at(a, "superseded") is True) == (after and of(a, "status") == "APPROVED")
    check(told, "says otherwise than the one that was asked for in its place whether it lets anything out")
    fields = [text(name) for name in items(at(precondition_of(c, step), "fields"))]
    changed = [] if before is None else _differences(fields, before, a)
    check(equal(changed, items(at(a, "changed"))), "says that something else has changed than the states show")
    again, was = max(0, whole(at(a, "askedAgain"))), max(0, whole(at(before, "askedAgain")))
    counted = again == was or (again == was + 1 and changed != [])
    check(counted and again <= 2, "says that it was asked for anew as often as it was not")


def _differences(fields: list[str], before: Json, a: Json) -> list[Json]:
    """What `changed` of an approval says, computed from its state and the one before."""
    then, now = at(at(before, "state"), "values"), at(at(a, "state"), "values")
    return [{"field": name, "then": at(then, name), "now": at(now, name)} for name in fields if not equal(at(then, name), at(now, name))]


def _as_decided_on(step: Json, a: Json, log: Course, check: Check) -> None:
    """Compares the state of an approval with those of its decisions, and of the records of its request and its decisions."""
    name, digest, on_another = of(a, "id"), of(a, "stateDigest"), "was decided on another state, as the log says"
    for d in items(at(a, "decisions")):
        if of(d, "by") == "system":
            continue
        check(at(d, "left") is True or of(d, "stateDigest") == digest, "counts a decision on another state")
        wanted = {"action": "approvals.decide", "step": of(a, "stepId"), "actor": of(d, "by"), "stateDigest": of(d, "stateDigest")}
        check(any(done(r, **wanted) and moment(r.word("at")) == moment(of(d, "at")) for r in log.records), on_another)
    if name in log.decided:
        decision = log.records[log.decided[name]]
        check(decision.word("action") != "approvals.decide" or decision.word("stateDigest") == digest, on_another)
    looked_again = of(_look_of(step, a), "by") != ""  # by somebody, who had the approval show another state
    asked = name not in log.asked or looked_again or log.records[log.asked[name]].word("stateDigest") == digest
    check(asked, "was asked for on another state, as the log says")


def found(step: Json, digest: str) -> Json:
    """The first look of a step that shows a state."""
    return next((look for look in items(at(step, "looks")) if has(look, "values") and of(look, "stateDigest") == digest), None)


def look_key(step: Json, look: Json) -> str:
    return f"{of(step, 'idempotencyKey')}~look-{digits(at(look, 'n'))}"
