"""An answer that its receiver has signed is more than the service's word: its bytes are in the
receipt, and what the step says of it is computed from them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from . import ed25519
from .answered import as_answered, ended_by_answer, ended_by_person, statements
from .canonical import Json
from .capability import hides
from .claims import Claims, at, digits, items, of, sha256, whole
from .failure import need
from .moment import moment
from .record import Record, done


@dataclass(frozen=True)
class SignedAnswer:
    """An answer that is verified to be its receiver's own."""

    step_id: str
    key_id: str
    key_from: str
    """Where the key was taken from: `log`, by the audit record that registered it, or `reader`, who knew it."""
    statement: int = 0
    """Of what the receiver said of the step's key: its number."""


@dataclass(frozen=True)
class Asked:
    """The request that an answer is to."""

    key: str
    method: str
    target: str
    body: str
    status: int
    before: int
    """The key is registered by a record before this one."""
    statement: int = 0


@dataclass
class Answers:
    """What is verified of the answers, and what it is verified by."""

    claims: Claims
    records: list[Record]
    given: Sequence[str]
    found: list[SignedAnswer] = field(default_factory=list)
    unshown: int = 0

    def place(self, step: Json, action: str) -> int:
        """The place of the last record of an action on a step, -1 for none."""
        return max((i for i, r in enumerate(self.records) if done(r, action=action, step=of(step, "id"))), default=-1)

    def verify(self, step: Json, signed: Json, key_id: str, asked: Asked) -> tuple[bytes, int]:
        """Verifies who signed an answer, and gives its body and when it was signed."""
        name, text = f"step {of(step, 'id')}", of(signed, "bodyBase64")
        try:
            body = base64.b64decode(text, validate=True)
        except (ValueError, binascii.Error):
            body = b"x"
        need(base64.b64encode(body).decode() == text, "run", f"{name} has an answer whose body is not in base64")
        keys = self.given or self._registered(of(step, "projectId"), asked.before)
        form = re.fullmatch("v1 (0|[1-9][0-9]{0,11}) ([0-9a-f]{128})", of(signed, "signature"))
        lines = ["countersign-answer/1", asked.key, of(signed, "timestamp"), asked.method, asked.target, sha256(asked.body.encode())]
        lines += [str(asked.status), sha256(body), form[1] if form else ""]
        signer = None
        if form and not any("\n" in line or "\r" in line for line in lines):
            message = "\n".join(lines).encode()
            signer = next((key for key in keys if ed25519.verify(bytes.fromhex(key), message, bytes.fromhex(form[2]))), None)
        whose = "none of the given keys signed as it says" if self.given else "no key signed as it says which the log registers before it"
        need(signer is not None and _key_id(signer) == key_id, "run", f"{name} has an answer that {whose}")
        self.found.append(SignedAnswer(of(step, "id"), key_id, "reader" if self.given else "log", asked.statement))
        return body, int(form[1]) if form else 0

    def _registered(self, project: str, before: int) -> list[str]:
        """The answer keys that the log registers for a project before a record."""
        about = (r for r in self.records[: max(0, before)] if done(r, subject=f"project/{project}"))
        return [key for r in about for key in _answer_keys(r)]


def _key_id(key: str) -> str:
    return hashlib.sha256(bytes.fromhex(key)).hexdigest()


def parse_answer_key(text: object) -> str:
    """The hex of a key as a project registers it, "" for anything else."""
    found = re.fullmatch("ed25519:([0-9a-f]{64})", text) if isinstance(text, str) else None
    return found[1] if found else ""


def _answer_keys(record: Record) -> list[str]:
    """The answer keys that a record names, as hex."""
    found = record.members.get("answerKeys")
    return [key for key in map(parse_answer_key, found if isinstance(found, list) else []) if key]


def registers_answers(c: Claims, record: Record) -> bool:
    """Whether a record registered a key by which an answer in the receipt is said to be signed."""
    ids = {_key_id(key) for key in _answer_keys(record)}
    return any(done(record, subject=f"project/{of(step, 'projectId')}") and ids & _key_ids(step) for step in c.steps)


def _key_ids(step: Json) -> set[str]:
    """The keys that a step names for answers whose evidence it shows."""
    ids = {of(r, "keyId") for r in statements(step) if at(r, "valid") is True and at(r, "signed") is not None}
    return ids | ({of(at(step, "answeredBy"), "keyId")} if at(at(step, "response"), "signed") is not None else set())


def check_answer(answers: Answers, step: Json) -> None:
    """Verifies the answer to a step's last sending, and that the step is what follows from it."""
    _claims_nothing_unsigned(answers, step)
    c, name = answers.claims, f"step {of(step, 'id')}"
    by, response = at(step, "answeredBy"), at(step, "response")
    signed = at(response, "signed")
    if by is None and signed is None:
        return
    need(by is not None, "run", f"{name} has a signed answer and doesn't say by whom")
    told = c.live and of(by, "keyId") != "" and moment(of(by, "at")) != ""
    need(told, "run", f"{name} doesn't say by whom it was answered, and when")
    if signed is None or hides(c, step):
        answers.unshown += 1
        return
    request, digest = at(step, "request"), of(step, "requestDigest")
    sent = next((r for r in items(c.requests) if of(r, "digest") == digest), None)
    target = re.fullmatch(r"[^/]*://[^/]*(/.*)", of(request, "url"), re.DOTALL)
    asked = Asked(
        key=of(step, "idempotencyKey"),
        method=of(request, "method"),
        target=target[1] if target else "",
        body=of(sent, "body"),
        status=whole(at(response, "statusCode")),
        before=answers.place(step, "step.send"),
    )
    body, seconds = answers.verify(step, signed, of(by, "keyId"), asked)
    same_time = moment(of(by, "at")) == moment(_utc(seconds))
    need(same_time, "run", f"{name} was answered at another time than its receiver signed")
    same = of(response, "bodySha256") == sha256(body) and digits(at(response, "bytes")) == str(len(body))
    need(same, "run", f"{name} has another bodySha256 or length than the answer that was signed")
    as_answered(c, step, body)


def signs_something(answers: Answers) -> None:
    """A reader who knows the keys of an API is shown an answer that one of them signed, where answers ended steps."""
    if not answers.given or answers.found or answers.unshown or not answers.claims.live:
        return
    for step in answers.claims.steps:
        ended = ended_by_answer(step) and not ended_by_person(step) and at(step, "settledBy") is None
        shown = not ended or answers.place(step, "step.send") < 0
        need(shown, "run", f"step {of(step, 'id')} was ended by an answer, and the receipt has none that one of the given keys signed")


def _utc(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""


def _claims_nothing_unsigned(answers: Answers, step: Json) -> None:
    """Where the log says that an answer counts only if it is signed, one that ended the step is."""
    name, by, settled = f"step {of(step, 'id')}", at(step, "answeredBy"), at(step, "settledBy") is not None
    withdrawn = of(at(step, "error"), "code") == "withdrawn"
    need(not withdrawn or settled or by is not None, "run", f"{name} is said to be withdrawn, which no receiver has signed")
    sent = answers.place(step, "step.send")
    if sent < 0 or settled or ended_by_person(step) or not ended_by_answer(step):
        return
    record = answers.records[sent]
    wanted = record.members.get("answerKeys")
    signs = any(_key_id(key) == of(by, "keyId") for key in _answer_keys(record))
    need(not isinstance(wanted, list) or not wanted or signs, "run", f"{name} was sent where only a signed answer counts, and ended by one that none of the keys of then signed")
