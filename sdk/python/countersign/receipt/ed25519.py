"""Ed25519 signatures (RFC 8032), to verify them. Python's library has none. Nothing here is
secret, so nothing needs constant time. As Go's verifier it compares without the cofactor."""

from __future__ import annotations

import hashlib
from functools import lru_cache

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)  # of -1

Point = tuple[int, int, int, int]
"""X, Y, Z and T of extended coordinates: x = X/Z, y = Y/Z, xy = T/Z."""

_NEUTRAL: Point = (0, 1, 1, 0)


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key = _decoded(public_key)
    s = int.from_bytes(signature[32:], "little")
    if key is None or s >= _L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % _L
    x, y, z, t = key
    return _encoded(_sum_of(s, _BASE, k, (_P - x, y, z, _P - t))) == signature[:32]


@lru_cache(64)
def _decoded(text: bytes) -> Point | None:
    """A point; None where there is none with this y."""
    number = int.from_bytes(text, "little")
    sign, y = number >> 255, (number & (2**255 - 1)) % _P
    u, v = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = u * pow(v, 3, _P) * pow(u * pow(v, 7, _P), (_P - 5) // 8, _P) % _P
    if (v * x * x - u) % _P != 0:
        x = x * _ROOT % _P
        if (v * x * x - u) % _P != 0:
            return None
    if x & 1 != sign:
        x = (_P - x) % _P
    return x, y, 1, x * y % _P


def _encoded(point: Point) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _add(p: Point, q: Point) -> Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % _P
    b = (p[1] + p[0]) * (q[1] + q[0]) % _P
    c = 2 * p[3] * q[3] * _D % _P
    d = 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _sum_of(a: int, p: Point, b: int, q: Point) -> Point:
    """a times p and b times q, bit by bit together."""
    both = _add(p, q)
    out = _NEUTRAL
    for bit in range(max(a.bit_length(), b.bit_length()) - 1, -1, -1):
        out = _add(out, out)
        chosen = (a >> bit & 1, b >> bit & 1)
        if chosen != (0, 0):
            out = _add(out, {(1, 0): p, (0, 1): q, (1, 1): both}[chosen])
    return out


_BASE_POINT = _decoded((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little"))
assert _BASE_POINT is not None
_BASE: Point = _BASE_POINT
