"""Ed25519 signatures (RFC 8032), to verify them. Python's library has none. Nothing of that is
secret, so nothing needs constant time. As Go's verifier it compares without the cofactor."""

from __future__ import annotations

import hashlib
from functools import lru_cache

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_D2 = 2 * _D
_ROOT = pow(2, (_P - 1) // 4, _P)  # of -1

Point = tuple[int, int, int, int]
"""X, Y, Z and T of extended coordinates: x = X/Z, y = Y/Z, xy = T/Z."""

_NEUTRAL: Point = (0, 1, 1, 0)


Table = list[tuple[Point, Point, Point, Point]]
"""Of a point: 0, 1, 2 and 3 times it, then of four times it, and so on."""


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key = _negated(public_key)
    s = int.from_bytes(signature[32:], "little")
    if key is None or s >= _L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % _L
    return _encoded(_times(k, key, _times(s, _BASE, _NEUTRAL))) == signature[:32]


@lru_cache(64)
def _negated(public_key: bytes) -> Table | None:
    """The table of a key's point with the other sign; None where there is no such point."""
    if not holders_alone(public_key):
        return None
    point = _decoded(public_key)
    return None if point is None else _table((_P - point[0], point[1], point[2], _P - point[3]))


_SMALL_ORDER = {
    0,
    1,
    _P - 1,
    0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
    0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
}
"""The y of the eight points of small order, for which one signature is good for any text."""


def holders_alone(public_key: bytes) -> bool:
    """A key in the one form that it has, for which not anybody can sign."""
    y = int.from_bytes(public_key, "little") & (2**255 - 1)
    return y < _P and y not in _SMALL_ORDER


def _decoded(text: bytes) -> Point | None:
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
    c = p[3] * q[3] * _D2 % _P
    d = 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _table(point: Point) -> Table:
    rows: Table = []
    for _ in range(127):  # two bits each of a number below _L
        twice = _add(point, point)
        rows.append((_NEUTRAL, point, twice, _add(twice, point)))
        point = _add(twice, twice)
    return rows


def _times(n: int, table: Table, out: Point) -> Point:
    """n times a point, and another one."""
    for row in table:
        if n & 3:
            out = _add(out, row[n & 3])
        n >>= 2
    return out


_BASE_POINT = _decoded((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little"))
assert _BASE_POINT is not None
_BASE = _table(_BASE_POINT)


def public_key(seed: bytes) -> bytes:
    """The public key of a private one's seed."""
    return _encoded(_times(_secret(seed)[0], _BASE, _NEUTRAL))


def sign(seed: bytes, message: bytes) -> bytes:
    """A signature, in time that depends on the seed."""
    scalar, prefix = _secret(seed)
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % _L
    point = _encoded(_times(r, _BASE, _NEUTRAL))
    k = int.from_bytes(hashlib.sha512(point + public_key(seed) + message).digest(), "little") % _L
    return point + ((r + k * scalar) % _L).to_bytes(32, "little")


def _secret(seed: bytes) -> tuple[int, bytes]:
    digest = hashlib.sha512(seed).digest()
    number = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
    return number % _L, digest[32:]
