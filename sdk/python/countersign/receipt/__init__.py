"""Verifies receipts of runs with nothing but the file and a public key, by the
specification docs/reference/receipt.md and independently of the service's own verifier."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from . import ed25519
from .answers import SignedAnswer, parse_answer_key
from .canonical import canonical
from .claims import Claims
from .cosigned import Cosignature, Cosigned
from .failure import SECTIONS, Failure, UnknownFormat, fail
from .meaning import Told, meaning
from .opening import opened
from .witnesses import policy_of

__all__ = ["Cosignature", "Cosigned", "SignedAnswer", "Told", "Verdict", "verify_receipt"]


@dataclass(frozen=True)
class Verdict:
    """What a verification came to."""

    ok: bool
    section: str = ""
    """The part that fails: a section, frame, contents or signature."""
    problem: str = ""
    unknown_format: str = ""
    """That of a receipt of a later release: nothing is said of whether it is valid."""
    public_key: str = ""
    """That signed it."""
    key_id: str = ""
    origin: bool = False
    """It is the key that was given; without one, only integrity is judged, as anybody can make a key."""
    told: Told | None = None
    """What a receipt that holds says."""


def verify_receipt(
    file: bytes, public_key: str | None = None, answer_keys: Sequence[str] = (), *, witnesses: Sequence[str] = (), quorum: int | None = None, epoch: int = 0
) -> Verdict:
    """Judges a receipt, as the bytes that `GET /runs/{id}/receipt` answers. `public_key` is
    the installation's, 64 digits of hex, known from elsewhere. `answer_keys` are keys by which
    the reader knows that APIs sign their answers, as projects register them: each signed answer must
    then be by one of them, and the log isn't asked for any. Of `witnesses`, by their vkeys,
    `quorum` must have cosigned the log, all if it is None; `epoch` is taken besides the first."""
    if public_key is not None and not re.fullmatch("[0-9a-f]{64}", public_key):
        raise ValueError("public_key must be 64 digits of lowercase hex")
    known = [parse_answer_key(key) for key in answer_keys]
    if "" in known:
        raise ValueError("answer_keys must be ed25519: and 64 digits of lowercase hex each")
    policy = policy_of(witnesses, quorum, epoch)
    try:
        found = opened(bytes(file))
        if public_key is not None and public_key != found.public_key:
            fail("signature", f"it is signed by the key {found.public_key}, not by the one that was given")
        values = {name: canonical(found.sections[name], name) for name in SECTIONS}
        key = bytes.fromhex(found.public_key)
        told = meaning(Claims(**values, format=found.format, signed=lambda text, signature: ed25519.verify(key, text, signature)), policy, known)
    except UnknownFormat as unknown:
        return Verdict(False, "contents", str(unknown), unknown.format)
    except Failure as failure:
        return Verdict(False, failure.section, str(failure))
    return Verdict(True, public_key=found.public_key, key_id=found.key_id, origin=public_key is not None, told=told)
