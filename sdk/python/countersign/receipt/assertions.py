"""Where an approval asks for it, each approval of it is signed with a passkey, whose
registration the log has."""

from __future__ import annotations

import hashlib

from .canonical import Json
from .claims import Claims, at, has, items, of, whole
from .failure import need
from .moment import moment
from .passkeys import refuted
from .record import Record, done
from .redacted import REDACTED
from .rules import of_older

_MEMBERS = ("credentialId", "authenticatorData", "clientDataJSON", "signature", "publicKey", "rpId")


def same_assertion(record: Record, decision: Json) -> bool:
    """A record and a decision have the same assertion, or none."""
    a, b = record.child("assertion"), at(decision, "assertion")
    if (a is None) != (b is None):
        return False
    return a is None or all(a.word(name) == of(b, name) for name in _MEMBERS)


def is_registration(record: Record, decision: Json) -> bool:
    """The record of the registration of a decision's passkey, by whoever decided."""
    by, a, key = of(decision, "by"), at(decision, "assertion"), record.child("passkey") or Record({})
    if not by.startswith("user:") or by == "user:" or record.seq != whole(at(a, "registration")):
        return False
    said = done(record, action="passkeys.create", step="", actor=by, subject="user/" + by.removeprefix("user:"))
    return said and all(key.word(name) == of(a, name) for name in ("credentialId", "publicKey", "rpId"))


def signed_decisions(approvals: Json) -> list[Json]:
    """The decisions of all approvals that are signed."""
    return [d for a in items(approvals) for d in items(at(a, "decisions")) if has(d, "assertion")]


def check_signed(c: Claims, a: Json, records: list[Record], asked: Record) -> None:
    """Checks the assertions of an approval whose digest is shown, and that none is missing.
    asked is the record of its request."""
    name, wants = of(a, "id"), at(a, "decisionAssertion")
    told = asked.members.get("decisionAssertion")
    need(type(told) is type(wants) and told == wants, "audit", f"the log does not say that approval {name} asked for signatures so")
    need(wants is None or wants == "PASSKEY", "audit", f"approval {name} asks for signatures of an unknown kind")
    need(wants is None or not of_older(a), "audit", f"approval {name} asks for signatures and lacks its decisions")
    for d in items(at(a, "decisions")):
        whose = f"the decision of {of(d, 'by')} on approval {name}"
        if not has(d, "assertion"):
            unsigned = wants is not None and of(d, "decision") == "APPROVED"
            need(not unsigned, "audit", f"{whose} is not signed with a passkey, as it must be")
            continue
        reason = hashlib.sha256(reason_of(c, a, d, records).encode()).hexdigest()
        state = of(d, "stateDigest")
        about = (name, of(a, "requestDigest"), state) if state else (name, of(a, "requestDigest"))
        signed = "\n".join((f"countersign decision v{2 if state else 1}", *about, of(d, "decision"), reason))
        problem = refuted({member: of(at(d, "assertion"), member) for member in _MEMBERS}, signed)
        need(problem == "", "audit", f"{whose} has a signature that does not hold: {problem}")
        known = _registered_before(a, d, records)
        need(known, "audit", f"{whose} is signed with a passkey whose registration by them the log does not prove before it")


def _registered_before(a: Json, d: Json, records: list[Record]) -> bool:
    registered = False
    for r in records:
        registered = registered or is_registration(r, d)
        if done(r, action="approvals.decide", step=of(a, "stepId"), digest=of(a, "requestDigest")) and same_assertion(r, d):
            return registered
    return False


def reason_of(c: Claims, a: Json, decision: Json, records: list[Record]) -> str:
    """The reason that somebody gave with a decision: where redaction has left none, the one that its record has."""
    shown = of(decision, "reason")
    if not c.redacted or shown != REDACTED:
        return shown
    wanted = {"action": "approvals.decide", "step": of(a, "stepId"), "digest": of(a, "requestDigest"), "actor": of(decision, "by")}
    time = moment(of(decision, "at"))
    found = (r for r in records if done(r, **wanted) and moment(r.word("at")) == time and same_assertion(r, decision))
    record = next(found, None)
    return shown if record is None else record.word("reason")
