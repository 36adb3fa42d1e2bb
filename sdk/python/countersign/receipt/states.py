"""What a precondition read is that on which it was approved, and was read before it was sent:
as far as the log has it. Masking leaves it out."""

from __future__ import annotations

import calendar
import hashlib
import time

from .canonical import Json
from .capability import capability
from .claims import Claims, at, has, items, members, of
from .failure import need
from .gate import Sendings, let_out
from .gaterules import judge
from .moment import moment
from .record import Record, done
from .rules import gated
from .values import encoded

_TEN_SECONDS = 10_000_000_000


def check_states(c: Claims, log: Sendings) -> None:
    """Compares the states of approvals and steps with the log."""
    if c.masked:
        return
    for a in items(c.approvals):
        _as_read(c, a, log)
    for step in c.steps:
        pre = at(capability(c, step), "precondition")
        if pre is not None and c.live:
            _sent_on_state(c, step, pre, log)


def _digest_of(value: Json) -> str:
    state: Json = {"capability": of(value, "capability"), "fields": members(at(value, "values"))}
    return hashlib.sha256(encoded(state).encode()).hexdigest()


def _as_read(c: Claims, a: Json, log: Sendings) -> None:
    name, digest, state = of(a, "id"), of(a, "stateDigest"), at(a, "state")
    shown = (state is not None) == (digest != "") and (digest == "" or _digest_of(state) == digest)
    need(shown, "approvals", f"approval {name} shows another state than the one of its stateDigest")
    step = next((s for s in c.steps if of(s, "id") == of(a, "stepId")), None)
    conditional = digest == "" or (step is not None and at(capability(c, step), "precondition") is not None)
    need(conditional, "approvals", f"approval {name} shows a state, and its capability has no precondition")
    for d in items(at(a, "decisions")):
        same = at(d, "left") is True or of(d, "by") == "system" or of(d, "stateDigest") == digest
        need(same, "approvals", f"approval {name} counts a decision on another state")
    place = log.decided.get(name)
    record = None if place is None else log.records[place]
    told = record is None or record.word("action") != "approvals.decide" or record.word("stateDigest") == digest
    need(told, "approvals", f"approval {name} was decided on another state, as the log says")


def _sent_on_state(c: Claims, step: Json, pre: Json, log: Sendings) -> None:
    name, attempt, last = of(step, "id"), 0, ""
    looks = [look for look in items(at(step, "looks")) if has(look, "values")]
    as_digested = all(_digest_of(look) == of(look, "stateDigest") for look in looks)
    need(as_digested, "approvals", f"step {name} shows another state than the one of its look's stateDigest")
    for sending, r in enumerate(log.records):
        if not done(r, action="step.send", step=name):
            continue
        attempt, last = attempt + 1, r.word("stateDigest")
        looked = last != "" and _looked_before(log.records, name, last, sending)
        need(looked, "approvals", f"step {name} was sent, and the log does not say that this state was read within ten seconds before")
        approved = any(
            log.decided.get(of(a, "id"), sending) < sending and of(a, "stateDigest") == last and at(a, "superseded") is not True
            for a in let_out(c, step, attempt)
        )
        need(not gated(c, step) or approved, "approvals", f"step {name} was sent on another state than the one that was approved")
    need(last == of(step, "stateDigest"), "approvals", f"step {name} says that it was sent on another state than the log")
    if last == "":
        return
    seen = next((look for look in looks if of(look, "stateDigest") == last), None)
    need(seen is not None, "approvals", f"step {name} does not show the state on which it was sent")
    when = at(pre, "when")
    rule: Json = {"when": when, "then": "ALLOW"}
    holds = when is None or judge(0, [rule], True, at(seen, "values"), []).then == "ALLOW"
    need(holds, "approvals", f"step {name} was sent on a state in which what must be so does not hold")


def _nanoseconds(value: str) -> int | None:
    form = moment(value)
    if form == "":
        return None
    return calendar.timegm(time.strptime(form[:19], "%Y-%m-%dT%H:%M:%S")) * 1_000_000_000 + int(form[20:])


def _looked_before(records: list[Record], name: str, digest: str, sending: int) -> bool:
    """Whether the last look before a sending found this state, and began ten seconds before at most."""
    for looked in range(sending - 1, -1, -1):
        found = records[looked]
        if not done(found, action="steps.looked", step=name, actor="system"):
            continue
        key = found.word("reason").split(": ")[0]
        began = [r for r in records[:looked] if done(r, action="steps.look", step=name, reason=key)]
        if found.word("stateDigest") != digest or not began:
            return False
        first, then = _nanoseconds(began[-1].word("at")), _nanoseconds(records[sending].word("at"))
        return first is not None and then is not None and then - first <= _TEN_SECONDS
    return False
