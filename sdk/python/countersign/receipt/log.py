"""Verifies the signed tree head, each record's way to it (RFC 6962), and that the run is
what the records say."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .answers import registers_answers
from .assertions import check_signed, is_registration, same_assertion, signed_decisions
from .canonical import Json
from .claims import Claims, at, digits, items, of, sha256, text, whole
from .cosigned import Cosigned, check_cosigned
from .course import check_end, check_outcome, check_reconciled, check_records, check_started
from .failure import need
from .gate import Sendings, check_sent
from .moment import moment
from .record import Record, done, read
from .redacted import check_redaction, says_reason
from .settled import check_settling
from .states import Course
from .witnesses import Policy


@dataclass
class Log:
    """What the log was found to say."""

    tree_size: int
    tree_root: str
    records: int
    left_out: int
    approved: int = 0
    unlogged: int = 0
    cosigned: Cosigned | None = None
    placed: list[Record] = field(default_factory=list)
    course: Course = field(default_factory=lambda: Course([], {}, {}))


def check_audit(c: Claims, policy: Policy) -> Log:
    head = at(c.audit, "head")
    tenant, signature = of(head, "tenantId"), of(head, "signature")
    signed = f"countersign-tree-head/1\n{tenant}\n{digits(at(head, 'size'))}\n{of(head, 'root')}\n{of(head, 'at')}\n".encode()
    good = re.fullmatch("[0-9a-f]{128}", signature) is not None and c.signed(signed, bytes.fromhex(signature))
    need(good, "audit", "the tree head is not signed by the key")
    need(tenant == of(c.statement, "tenantId"), "audit", "the tree head is of another tenant's log")
    left_out = whole(at(c.audit, "leftOut"))
    need(left_out >= 0, "audit", "leftOut must say how many records were left out")
    records = _included(c, head)
    log = Log(whole(at(head, "size")), of(head, "root"), len(records), left_out, placed=records)
    _check_course(c, records, log)
    log.cosigned = check_cosigned(c, records[-1].seq if records else -1, policy)
    return log


def _included(c: Claims, head: Json) -> list[Record]:
    size, root = whole(at(head, "size")), of(head, "root")
    need(size >= 0 and _is_hash(root), "audit", "the tree head is of no tree")
    subjects = {f"approval/{of(a, 'id')}" for a in items(c.approvals)} | {f"run/{of(c.run, 'id')}"}
    signed = signed_decisions(c.approvals)
    last = -1
    out: list[Record] = []
    for r in items(at(c.audit, "records")):
        leaf = of(r, "text")
        found = re.match(r'\{"seq":(0|[1-9][0-9]{0,14}),', leaf)
        seq = int(found[1]) if found else -1
        path = [text(each) for each in items(at(r, "proof"))]
        proven = last < seq < size and all(map(_is_hash, path)) and _root_of(leaf, seq, size, path) == root
        need(proven, "audit", f"a record is not proven to stand in the log at its place: {seq}")
        last = seq
        record = read(leaf, seq)
        about = record.word("subject") in subjects or any(is_registration(record, d) for d in signed) or registers_answers(c, record)
        need(about, "audit", f"a record is about something else: {seq}")
        need(moment(record.word("at")) != "", "audit", f"a record has no time in UTC: {seq}")
        out.append(record)
    return out


def _is_hash(value: str) -> bool:
    return re.fullmatch("[0-9a-f]{64}", value) is not None


def _root_of(leaf: str, seq: int, size: int, path: list[str]) -> str:
    """Where a leaf's path leads to: RFC 9162, 2.1.3.2; "" where the path is of no such leaf."""
    fn, sn = seq, size - 1
    found = sha256(b"\x00", leaf.encode())
    for step in path:
        if sn == 0:
            return ""
        if fn % 2 == 1 or fn == sn:
            found = sha256(b"\x01", bytes.fromhex(step), bytes.fromhex(found))
            while fn % 2 == 0 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            found = sha256(b"\x01", bytes.fromhex(found), bytes.fromhex(step))
        fn, sn = fn >> 1, sn >> 1
    return found if sn == 0 else ""


def _check_course(c: Claims, records: list[Record], log: Log) -> None:
    """Compares the course of the run, what was sent, who decided and who reconciled, and why."""
    check_started(c, records)
    check_records(c, records)
    check_end(c, records, log.left_out)
    places = _Places(records)
    for a in items(c.approvals):
        _check_decision(c, a, places, log)
    asked = set(places.asked.values())
    for i, r in enumerate(records):
        belongs = i in asked or not done(r, action="approval.request")
        need(belongs, "audit", f"the log says that an approval was asked for at step {r.word('step')}, which is missing")
    for step in c.steps:
        check_sent(c, step, Sendings(records, places.decided))
        check_reconciled(c, step, records)
        check_outcome(c, step, records, log.left_out)
        check_settling(c, step, records, log.left_out)
    check_redaction(c, records)
    log.course = Course(records, places.asked, places.decided)


@dataclass
class _Places:
    """The places of the records of what was asked and of what was decided, by the approvals' ids."""

    records: list[Record]
    asked: dict[str, int] = field(default_factory=dict)
    decided: dict[str, int] = field(default_factory=dict)

    def find(self, taken: dict[str, int], a: Json, time: str, also: Callable[[Record], bool] = lambda _: True, **wanted: str) -> bool:
        """Finds a record that stands for no other approval."""
        others = set(taken.values())
        at_time = moment(of(a, time))
        for i, r in enumerate(self.records):
            same = done(r, step=of(a, "stepId"), digest=of(a, "requestDigest"), **wanted)
            if same and moment(r.word("at")) == at_time and i not in others and also(r):
                taken[of(a, "id")] = i
                return True
        return False


def _check_decision(c: Claims, a: Json, places: _Places, log: Log) -> None:
    """Finds the records of what was asked and of what was decided, one each for each approval."""
    name, status, by = of(a, "id"), of(a, "status"), of(a, "decidedBy")
    if status == "APPROVED":
        log.approved += 1
    if of(a, "requestDigest") == "":
        if status == "APPROVED" or by != "system":
            log.unlogged += 1  # masking left it out, and the record with it
        return
    asked = places.find(places.asked, a, "requestedAt", action="approval.request")
    need(asked, "audit", f"the log does not say that approval {name} was asked for so")
    if by == "system" and c.masked and log.left_out > 0:
        return check_signed(c, a, places.records, places.records[places.asked[name]])  # the record's reason may quote what must not be seen
    actor = {"action": "approval.close"} if by == "system" else {"action": "approvals.decide", "actor": by}
    last, reason = (items(at(a, "decisions")) or [None])[-1], of(a, "decisionReason")
    decided = places.find(places.decided, a, "decidedAt", lambda r: same_assertion(r, last) and says_reason(c, r, "", reason), after=status, **actor)
    need(decided, "audit", f"the log does not say that approval {name} was decided so")
    _check_earlier(c, a, records=places.records, last=places.decided[name])
    check_signed(c, a, places.records, places.records[places.asked[name]])


def _check_earlier(c: Claims, a: Json, records: list[Record], last: int) -> None:
    """Finds the record of each decision before the last, in the log's order."""
    name, start = of(a, "id"), 0
    wanted = {"action": "approvals.decide", "step": of(a, "stepId"), "digest": of(a, "requestDigest"), "after": "PENDING"}
    for decision in items(at(a, "decisions"))[:-1]:
        by, time = of(decision, "by"), moment(of(decision, "at"))
        found = (
            i
            for i, r in enumerate(records)
            if i >= start and done(r, **wanted, actor=by) and moment(r.word("at")) == time and says_reason(c, r, "", of(decision, "reason")) and same_assertion(r, decision)
        )
        place = next(found, -1)
        need(place >= 0, "audit", f"the log does not say that approval {name} was approved by {by} so")
        start = place + 1
    need(start <= last, "audit", f"the log does not say that approval {name} was decided in this order")
