"""What a reader asks of witnesses (C2SP tlog-cosignature), and their keys."""

from __future__ import annotations

import base64 as library
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from . import ed25519

NOTE_NAME = "[^+\\x00-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+"
"""A name in a signed note: not empty, without + and white space."""

_VKEY = re.compile(rf"({NOTE_NAME})\+([0-9a-f]{{8}})\+([A-Za-z0-9+/]+)")
_OF_WITNESS = 4


@dataclass(frozen=True)
class WitnessKey:
    vkey: str
    name: str
    hash: bytes
    public_key: bytes


@dataclass(frozen=True)
class Policy:
    """Which witnesses are asked, how many of them must have cosigned, and which epoch of the log
    is taken besides the first."""

    witnesses: tuple[WitnessKey, ...]
    quorum: int
    epoch: int


def policy_of(witnesses: Sequence[str], quorum: int | None, epoch: int) -> Policy:
    """Reads what is asked; a ValueError says what of it is none."""
    keys = tuple(map(_witness_key, witnesses))
    if len({k.public_key for k in keys}) < len(keys):
        raise ValueError("witnesses: the same key stands twice: one witness counts once")
    if quorum is not None and not 1 <= quorum <= len(keys):
        raise ValueError("quorum must be between 1 and the number of witnesses")
    if epoch < 0:
        raise ValueError("epoch must be no less than 0")
    return Policy(keys, len(keys) if quorum is None else quorum, epoch)


def _witness_key(vkey: str) -> WitnessKey:
    found = _VKEY.fullmatch(vkey)
    data = base64(found[3]) if found else None
    if found and data and len(data) == 33 and data[0] == _OF_WITNESS and ed25519.holders_alone(data[1:]):
        digest = hashlib.sha256(f"{found[1]}\n".encode() + data).digest()[:4]
        if digest.hex() == found[2]:
            return WitnessKey(vkey, found[1], digest, data[1:])
    raise ValueError(f"witnesses: {vkey!r} is no vkey of a witness")


def base64(text: str) -> bytes | None:
    """Reads it in its one spelling, with padding; None for anything else."""
    try:
        data = library.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if data and library.b64encode(data).decode() == text else None
