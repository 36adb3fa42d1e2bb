"""Takes a receipt apart by its table of contents, without reading JSON, so that a byte that
was altered is found where it stands, whatever it was made."""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import ed25519
from .claims import sha256
from .failure import FORMATS, SECTIONS, UnknownFormat, need

_OPENING = b'{"contents":'
_BEFORE_SECTIONS = b',"sections":{'
_BEFORE_SIGNATURE = b'},"signature":'
_MAX_CONTENTS = 4096

_ENTRIES = ",".join(rf'\{{"bytes":([1-9][0-9]{{0,8}}),"name":"{name}","sha256":"([0-9a-f]{{64}})"\}}' for name in SECTIONS)
_CONTENTS = re.compile(rf'\{{"format":"({"|".join(FORMATS)})","sections":\[{_ENTRIES}\]\}}'.encode())
_LATER = re.compile(rb'\{"format":"(countersign-receipt/[1-9][0-9]{0,8})"')
_HEX = "([0-9a-f]{64})"
_SIGNATURE = re.compile(
    rf'\{{"algorithm":"Ed25519","contentsSha256":"{_HEX}","keyId":"{_HEX}","publicKey":"{_HEX}","value":"([0-9a-f]{{128}})"\}}'.encode()
)
_SIGNATURE_LENGTH = len('{"algorithm":"Ed25519","contentsSha256":"","keyId":"","publicKey":"","value":""}') + 3 * 64 + 128


@dataclass(frozen=True)
class Opened:
    """A receipt of which no byte was altered since it was signed."""

    format: str
    public_key: str
    key_id: str
    sections: dict[str, bytes]


def opened(file: bytes) -> Opened:
    """Checks the signature and every digest, and names the first part that fails."""
    need(file.startswith(_OPENING), "frame", "it does not begin as a receipt does")
    head = file[len(_OPENING) : len(_OPENING) + _MAX_CONTENTS]
    found, named = _CONTENTS.match(head), _LATER.match(head)
    if named is not None and named[1].decode() not in FORMATS:
        raise UnknownFormat(named[1].decode())
    if found is None:
        need(False, "contents", f"it is no table of contents of the format {FORMATS[-1]}")
        raise AssertionError("unreachable")
    form, *table = (group.decode() for group in found.groups())
    start = len(_OPENING) + found.end()
    end = len(file) - 1 - _SIGNATURE_LENGTH
    need(end >= start and file.endswith(b"}"), "frame", "it does not end as a receipt does")
    public_key, key_id = _check_signature(form, file[len(_OPENING) : start], file[end:-1])
    return Opened(form, public_key, key_id, _cut(file, start, end, table))


def _check_signature(form: str, contents: bytes, text: bytes) -> tuple[str, str]:
    """Tells contents that were altered from a signature that was."""
    found = _SIGNATURE.fullmatch(text)
    if found is None:
        need(False, "signature", f"it is no signature of the format {form}")
        raise AssertionError("unreachable")
    digest, key_id, public_key, value = (group.decode() for group in found.groups())
    hashed = sha256(contents) == digest
    good = ed25519.verify(bytes.fromhex(public_key), f"{form}\n".encode() + contents, bytes.fromhex(value))
    need(hashed or good, "contents", "the table of contents is not what was signed")
    need(hashed, "signature", "its contentsSha256 is not that of the contents, which are what was signed")
    need(good, "signature", "it is not that of the contents by the key beside it")
    need(sha256(bytes.fromhex(public_key)) == key_id, "signature", "its keyId is not that of the key beside it")
    return public_key, key_id


def _cut(file: bytes, start: int, end: int, table: list[str]) -> dict[str, bytes]:
    """Finds each section where the contents put it, and compares its digest."""
    at = start

    def literal(text: bytes) -> None:
        nonlocal at
        around = at + len(text) <= end and file.startswith(text, at)
        need(around, "frame", "what stands around the sections is not as the format has it")
        at += len(text)

    literal(_BEFORE_SECTIONS)
    out: dict[str, bytes] = {}
    for i, name in enumerate(SECTIONS):
        literal(f'{"," if i else ""}"{name}":'.encode())
        length, digest = int(table[2 * i]), table[2 * i + 1]
        section = file[at : at + length]
        need(at + length <= end and sha256(section) == digest, name, f"it is not the {length} bytes whose digest was signed")
        out[name] = section
        at += length
    literal(_BEFORE_SIGNATURE)
    need(at == end, "frame", "what stands around the sections is not as the format has it")
    return out
