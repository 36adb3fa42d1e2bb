"""Verifies the head of the log that witnesses have cosigned, and the way from there to the
receipt's own head: "The cosigned head" of the specification."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone

from . import ed25519
from .claims import Claims, at, items, of, sha256, text, whole
from .failure import fail, need
from .witnesses import NOTE_NAME, Policy, WitnessKey, base64


@dataclass(frozen=True)
class Cosignature:
    """That of a witness that was asked."""

    witness: str
    """Its vkey."""
    at: str


@dataclass(frozen=True)
class Cosigned:
    """The cosigned head of a receipt."""

    epoch: int
    """Of the log: 0 is the first, and another is another log."""
    origin: str
    size: int
    root: str
    by: list[Cosignature]
    """Who of the witnesses that were asked has cosigned it, and when."""


@dataclass(frozen=True)
class _Line:
    name: str
    data: bytes


@dataclass(frozen=True)
class _Note:
    signed: str
    lines: list[_Line]
    origin: str
    size: int
    root: str


def check_cosigned(c: Claims, last: int, policy: Policy) -> Cosigned | None:
    """None for a receipt without a cosigned head. `last` is the number of its last record."""
    given = at(c.audit, "cosigned")
    if given is None:
        need(policy.quorum == 0, "audit", "no witness has cosigned a head of the log that contains the receipt; one that is got later may have it")
        return None
    need(c.format != "countersign-receipt/1", "audit", "this format has no cosigned head")
    note = _note_of(of(given, "checkpoint"))
    epoch = _epoch_of(note.origin, of(c.statement, "tenantId"))
    taken = epoch in (0, policy.epoch)
    need(taken, "audit", f"the cosigned head is of epoch {epoch} of its log, {note.origin}, and that epoch was not named")
    by = [one for w in policy.witnesses if (one := _cosigned_by(w, note))]
    enough = f"{len(by)} of the {len(policy.witnesses)} witnesses that were given have cosigned the head of {note.size} records, and {policy.quorum} were asked for"
    need(len(by) >= policy.quorum, "audit", enough)
    head = at(c.audit, "head")
    size, root = whole(at(head, "size")), of(head, "root")
    path = [text(each) for each in items(at(given, "proof"))]
    contains = max(last, 0) < note.size <= size and _leads(path, note, size, root)
    need(contains, "audit", f"the cosigned head of {note.size} records is not proven to be on the way to the receipt's own, with each of its records")
    return Cosigned(epoch, note.origin, note.size, note.root, by)


_NOT_ONE = "it is no checkpoint: an origin, a size and a hash in base64, each on a line"
_MAX_NOTE = 64 * 1024
_MAX_LINES = 100
_LINE = re.compile(f"— ({NOTE_NAME}) ([A-Za-z0-9+/]+={{0,2}})")


def _note_of(note: str) -> _Note:
    """Reads a signed note with a checkpoint."""
    end = note.rfind("\n\n")
    form = end >= 0 and note.endswith("\n") and len(note.encode()) <= _MAX_NOTE and re.search(r"[\x00-\x09\x0b-\x1f]", note) is None
    need(form, "audit", _NOT_ONE)
    signed, below = note[: end + 1], note[end + 2 : -1].split("\n")
    need(len(below) <= _MAX_LINES, "audit", _NOT_ONE)
    texts = signed[:-1].split("\n")
    need(len(texts) >= 3, "audit", _NOT_ONE)
    origin, size, root, *more = texts
    digest = base64(root)
    good = origin != "" and re.fullmatch("0|[1-9][0-9]{0,14}", size) is not None and "" not in more
    if not good or digest is None or len(digest) != 32:
        fail("audit", _NOT_ONE)
    return _Note(signed, list(map(_line, below)), origin, int(size), digest.hex())


def _line(line: str) -> _Line:
    found = _LINE.fullmatch(line)
    data = base64(found[2]) if found else None
    if found is None or data is None or len(data) <= 4:
        fail("audit", _NOT_ONE)
    return _Line(found[1], data)


def _epoch_of(origin: str, log: str) -> int:
    found = re.fullmatch(r"countersign/[0-9A-Za-z._-]{1,64}/([0-9a-f]{16})(?:/([1-9][0-9]{0,8}))?", origin)
    if found is None or found[1] != sha256(log.encode())[:16]:
        fail("audit", f"the cosigned head is of another log: {origin}")
    return int(found[2] or 0)


_TIME_BYTES = 8
_END_OF_TIME = 253_402_300_800  # the year 10000


def _cosigned_by(witness: WitnessKey, note: _Note) -> Cosignature | None:
    """The first valid cosignature by a witness."""
    for line in note.lines:
        if line.name != witness.name or line.data[:4] != witness.hash or len(line.data) != 4 + _TIME_BYTES + 64:
            continue
        seconds = int.from_bytes(line.data[4 : 4 + _TIME_BYTES], "big")
        signed = f"cosignature/v1\ntime {seconds}\n{note.signed}".encode()
        if seconds < _END_OF_TIME and ed25519.verify(witness.public_key, signed, line.data[4 + _TIME_BYTES :]):
            return Cosignature(witness.vkey, datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    return None


def _leads(path: list[str], note: _Note, size: int, root: str) -> bool:
    """Whether a path leads from an earlier head to a later one: RFC 6962, 2.1.2."""
    if not all(re.fullmatch("[0-9a-f]{64}", step) for step in path):
        return False
    return _roots(path, note, 0, size) == (note.root, root)


def _roots(path: list[str], note: _Note, lo: int, hi: int) -> tuple[str, str] | None:
    """The roots of the first records, as many as the note has, and of all, of those from lo to hi;
    None where the path is of no such tree."""
    if note.size == hi:
        if lo == 0:
            return None if path else (note.root, note.root)
        return (path[0], path[0]) if len(path) == 1 else None
    if not path:
        return None
    half = 1
    while half * 2 < hi - lo:
        half *= 2
    left = note.size <= lo + half
    found = _roots(path[:-1], note, lo, lo + half) if left else _roots(path[:-1], note, lo + half, hi)
    if found is None:
        return None
    return (found[0], _node(found[1], path[-1])) if left else (_node(path[-1], found[0]), _node(path[-1], found[1]))


def _node(left: str, right: str) -> str:
    return sha256(b"\x01", bytes.fromhex(left), bytes.fromhex(right))
