"""What a passkey signs when somebody decides (WebAuthn), and whether it did: ES256, EdDSA and
RS256. Python's library verifies no signatures. Nothing here is secret, so nothing needs
constant time."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from typing import Any

from . import ed25519

_DATA_LENGTH = 37
_PRESENT, _VERIFIED, _MAY_BACK_UP, _BACKED_UP, _ATTESTED, _EXTENDED = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80
_ORIGIN = re.compile(r"(https?)://([^/?#@\\\s:]+)(?::[0-9]{1,5})?")


def refuted(assertion: dict[str, str], signed: str) -> str:
    """Says why an assertion is no answer of its passkey to what is signed, "" if it is."""
    data, client, signature, spki = (_decoded(assertion[name]) for name in ("authenticatorData", "clientDataJSON", "signature", "publicKey"))
    if data is None or client is None or signature is None or spki is None:
        return "its members must be base64url without padding"
    rp_id = assertion["rpId"]
    challenge = base64.urlsafe_b64encode(hashlib.sha256(signed.encode()).digest()).decode().rstrip("=")
    problem = _wrong_client(client, challenge, rp_id) or _wrong_data(data, rp_id)
    if problem == "" and not verified(spki, data + hashlib.sha256(client).digest(), signature):
        problem = "its signature is not of the registered key"
    return problem


def _decoded(value: str) -> bytes | None:
    """The one spelling of bytes in base64url."""
    if not re.fullmatch("[A-Za-z0-9_-]+", value):
        return None
    try:
        found = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))
    except (ValueError, binascii.Error):
        return None
    return found if found and base64.urlsafe_b64encode(found).decode().rstrip("=") == value else None


def _wrong_client(client: bytes, challenge: str, rp_id: str) -> str:
    """Checks what the browser says of the page."""
    try:
        said = json.loads(client.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_constant, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        return "clientDataJSON is no JSON object with unique keys"
    if said.get("type") != "webauthn.get":
        return "clientDataJSON is of another ceremony"
    if said.get("challenge") != challenge:
        return "it is about another decision: another approval, request, answer or reason than this one"
    if not _of_party(said.get("origin"), rp_id):
        return "it was made on a page that is not one of its relying party"
    if "topOrigin" in said or said.get("crossOrigin", False) is not False:
        return "it was made in a frame of another site's page"
    return ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _constant(text: str) -> Any:
    raise ValueError(text)


def _of_party(origin: object, rp_id: str) -> bool:
    """A page of the relying party: of its very name, by https, or by http on this machine."""
    found = _ORIGIN.fullmatch(origin) if isinstance(origin, str) else None
    if found is None or rp_id == "" or found[2] != rp_id:
        return False
    return found[1] == "https" or rp_id == "localhost" or rp_id.endswith(".localhost")


def _wrong_data(data: bytes, rp_id: str) -> str:
    """Checks what the authenticator says."""
    if len(data) < _DATA_LENGTH:
        return "authenticatorData is too short"
    flags = data[32]
    if data[:32] != hashlib.sha256(rp_id.encode()).digest():
        return "it is of another relying party than the passkey"
    if not flags & _PRESENT or not flags & _VERIFIED:
        return "the authenticator did not verify its user, by PIN, fingerprint or face"
    odd = flags & _ATTESTED or (not flags & _EXTENDED and len(data) != _DATA_LENGTH) or (flags & _BACKED_UP and not flags & _MAY_BACK_UP)
    return "authenticatorData is not that of an assertion" if odd else ""


_P256_SPKI = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")
_ED25519_SPKI = bytes.fromhex("302a300506032b6570032100")
_RSA_ALGORITHM = bytes.fromhex("300d06092a864886f70d0101010500")
_MIN_RSA, _MAX_RSA = 2048, 8192


def verified(spki: bytes, signed: bytes, signature: bytes) -> bool:
    """A signature by a SubjectPublicKeyInfo in its one form: the kind of the key decides the algorithm."""
    if spki.startswith(_P256_SPKI) and len(spki) == len(_P256_SPKI) + 64:
        x, y = (int.from_bytes(part, "big") for part in (spki[-64:-32], spki[-32:]))
        return _es256(x, y, signed, signature)
    if spki.startswith(_ED25519_SPKI) and len(spki) == len(_ED25519_SPKI) + 32:
        return ed25519.verify(spki[-32:], signed, signature)
    return _rs256(spki, signed, signature)


# DER, of what stands here: it is read, written again, and must be the same.


def _der(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    size = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + content


def _integer(n: int) -> bytes:
    return _der(0x02, n.to_bytes(n.bit_length() // 8 + 1, "big"))


def _read(text: bytes, tag: int) -> tuple[bytes, bytes]:
    """The content of the first value, and what follows it."""
    if len(text) < 2 or text[0] != tag:
        raise ValueError("another tag")
    length, start = text[1], 2
    if length >= 0x80:
        start += length - 0x80
        length = int.from_bytes(text[2:start], "big")
    return text[start : start + length], text[start + length :]


def _two_integers(sequence: bytes) -> tuple[int, int]:
    content, _ = _read(sequence, 0x30)
    first, rest = _read(content, 0x02)
    second, _ = _read(rest, 0x02)
    return int.from_bytes(first, "big"), int.from_bytes(second, "big")


def _pair(a: int, b: int) -> bytes:
    return _der(0x30, _integer(a) + _integer(b))


def _rs256(spki: bytes, signed: bytes, signature: bytes) -> bool:
    """RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017, 8.2.2)."""
    try:
        content, _ = _read(spki, 0x30)
        if not content.startswith(_RSA_ALGORITHM):
            return False
        bits, _ = _read(content[len(_RSA_ALGORITHM) :], 0x03)
        n, e = _two_integers(bits[1:])
    except ValueError:
        return False
    if spki != _der(0x30, _RSA_ALGORITHM + _der(0x03, b"\x00" + _pair(n, e))) or not _MIN_RSA <= n.bit_length() <= _MAX_RSA:
        return False
    size = (n.bit_length() + 7) // 8
    number = int.from_bytes(signature, "big")
    if len(signature) != size or number >= n or e < 3 or e >= 2**31 or e % 2 == 0 or n % 2 == 0:
        return False
    digest = bytes.fromhex("3031300d060960864801650304020105000420") + hashlib.sha256(signed).digest()
    return pow(number, e, n).to_bytes(size, "big") == b"\x00\x01" + b"\xff" * (size - len(digest) - 3) + b"\x00" + digest


_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_G = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296, 0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)

Point = tuple[int, int] | None
"""Of the curve P-256; None is the point at infinity."""


def _es256(x: int, y: int, signed: bytes, signature: bytes) -> bool:
    """ECDSA over P-256 with SHA-256 (FIPS 186-5, 6.4.2)."""
    if x >= _P or y >= _P or (y * y - x * x * x + 3 * x - _B) % _P != 0:
        return False
    try:
        r, s = _two_integers(signature)
    except ValueError:
        return False
    if signature != _pair(r, s) or not 0 < r < _N or not 0 < s < _N:
        return False
    inverse = pow(s, -1, _N)
    digest = int.from_bytes(hashlib.sha256(signed).digest(), "big")
    point = _add(_times(digest * inverse % _N, _G), _times(r * inverse % _N, (x, y)))
    return point is not None and point[0] % _N == r


def _add(a: Point, b: Point) -> Point:
    if a is None or b is None:
        return b if a is None else a
    if a[0] == b[0]:
        if (a[1] + b[1]) % _P == 0:
            return None
        slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, _P) % _P
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, _P) % _P
    x = (slope * slope - a[0] - b[0]) % _P
    return x, (slope * (a[0] - x) - a[1]) % _P


def _times(n: int, point: Point) -> Point:
    out: Point = None
    while n:
        if n & 1:
            out = _add(out, point)
        point = _add(point, point)
        n >>= 1
    return out
