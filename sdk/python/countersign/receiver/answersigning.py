"""How an answer is signed (Ed25519). The same vectors check this, the Go and the TypeScript definition."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from ..receipt import ed25519
from .answer import Answer, Reply
from .signature import Call, body_hash

ANSWER = "X-Runtime-Answer"
"""The header by which a receiver signs an answer."""

_PREFIX = "ed25519:"
_FORM = re.compile(r"v1 (0|[1-9][0-9]{0,11}) ([0-9a-f]{128})")


@dataclass(frozen=True)
class AnswerKey:
    """The key that signs answers, from its seed: 64 hex digits, such as `openssl rand -hex 32`
    prints. It signs by the package `cryptography` where that is installed. The arithmetic of
    this package, which is used otherwise, takes time that depends on the key: install
    cryptography where others share the machine."""

    seed: str

    def __post_init__(self) -> None:
        if not re.fullmatch("[0-9a-fA-F]{64}", self.seed):
            raise ValueError("the seed of an answer key is 64 hex digits")

    def __repr__(self) -> str:
        return f"AnswerKey({self.text})"

    @property
    def text(self) -> str:
        """The public half, as a project registers it in answerKeys."""
        return _PREFIX + ed25519.public_key(bytes.fromhex(self.seed)).hex()

    def sign(self, message: bytes) -> bytes:
        seed = bytes.fromhex(self.seed)
        try:
            keys: Any = import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
        except ImportError:
            return ed25519.sign(seed, message)
        signed: bytes = keys.Ed25519PrivateKey.from_private_bytes(seed).sign(message)
        return signed


def answer_key_id(public_key: str) -> str:
    """The id by which records name a public key: the lowercase hex SHA-256 of its 32 bytes."""
    return hashlib.sha256(bytes.fromhex(public_key.removeprefix(_PREFIX))).hexdigest()


@dataclass(frozen=True)
class AnswerParts:
    """What the signature of an answer binds: the request as it came, and the answer."""

    idempotency_key: str
    timestamp: str
    """The request's X-Runtime-Timestamp."""
    method: str
    target: str
    body: bytes
    """Of the request."""
    status: int
    answer: bytes
    """The answer's raw body."""

    def signed_text(self, seconds: str) -> bytes:
        lines = ["countersign-answer/1", self.idempotency_key, self.timestamp, self.method, self.target, body_hash(self.body)]
        lines += [str(self.status), body_hash(self.answer), seconds]
        if any("\n" in line or "\r" in line for line in lines):
            raise ValueError("a signed part holds a line break")
        return "\n".join(lines).encode("utf-8", "surrogateescape")


def sign_answer(key: AnswerKey, parts: AnswerParts, at: float) -> str:
    """The header's value, at a time in Unix seconds."""
    seconds = str(int(at))
    return f"v1 {seconds} {key.sign(parts.signed_text(seconds)).hex()}"


def verify_answer(public_keys: Sequence[str], parts: AnswerParts, headers: Sequence[str]) -> tuple[str, int] | None:
    """By which of the public keys an answer was signed, by its id, and when (Unix seconds).
    `headers` are all values of the header: a repeated one is none."""
    form = _FORM.fullmatch(headers[0]) if len(headers) == 1 else None
    if form is None:
        return None
    text, signature = parts.signed_text(form[1]), bytes.fromhex(form[2])
    for key in public_keys:
        if ed25519.verify(bytes.fromhex(key.removeprefix(_PREFIX)), text, signature):
            return answer_key_id(key), int(form[1])
    return None


def never_signed(status: int) -> bool:
    """The answers that anybody could draw from a receiver beside the true one, by a spoiled or a
    repeated request, and those that say that nothing is known."""
    return status in (400, 401, 408, 413) or status >= 500


def signature_of(key: AnswerKey | None, call: Call, body: bytes, answer: Answer, now: float) -> str:
    """The header's value for the answer to a verified call; empty where it isn't signed."""
    if key is None or call.method == "HEAD" or never_signed(answer.status):
        return ""
    sent = b"" if answer.status in (204, 304) else answer.body
    parts = AnswerParts(call.idempotency_key, str(int(call.sent_at.timestamp())), call.method, call.target, body, answer.status, sent)
    return sign_answer(key, parts, now)


def signed_reply(key: AnswerKey | None, call: Call, body: bytes, reply: Reply, now: float) -> Reply:
    """A reply to a verified call as it is sent: signed, unless it says nothing of what was done."""
    value = "" if reply.unsigned else signature_of(key, call, body, reply.answer, now)
    headers = {name: held for name, held in reply.headers.items() if name.lower() != ANSWER.lower()}
    return replace(reply, headers={**headers, ANSWER: value} if value else headers)
