"""JSON whose numbers keep their digits: integers are int, others Decimal, none is a float."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

_LONGEST_INT = 4000  # digits; Python refuses to read much longer ones as int


def decode(text: str | bytes) -> Any:
    """Reads JSON text. Raises ValueError for what is none."""
    try:
        return json.loads(text, parse_float=_decimal, parse_int=_integer, parse_constant=_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def encode(value: object) -> bytes:
    """Writes a value as JSON in UTF-8. A float is refused with a TypeError that says where."""
    try:
        return "".join(_parts(value, "")).encode()
    except UnicodeEncodeError:
        raise ValueError("a text holds half of a surrogate pair, which is no character") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("a number's power of ten is too large") from None


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) <= _LONGEST_INT else Decimal(text)


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _parts(value: object, where: str) -> Iterator[str]:
    if value is None or value is True or value is False:
        yield {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, str):
        yield json.dumps(str(value), ensure_ascii=False)
    elif isinstance(value, (int, Decimal)):
        yield _number(value, where)
    elif isinstance(value, Mapping):
        yield "{"
        for i, (name, member) in enumerate(value.items()):
            if not isinstance(name, str):
                raise TypeError(f"{where or 'the value'}: the name {name!r} must be a str")
            yield f"{',' if i else ''}{json.dumps(str(name), ensure_ascii=False)}:"
            yield from _parts(member, f"{where}.{name}" if where else name)
        yield "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for i, member in enumerate(value):
            yield "," if i else ""
            yield from _parts(member, f"{where}[{i}]")
        yield "]"
    elif isinstance(value, float):
        raise TypeError(f"{where or 'the value'}: a float such as {value!r} is not exact; give Decimal({str(value)!r}) or a str")
    else:
        raise TypeError(f"{where or 'the value'}: {type(value).__name__} is no JSON; give None, bool, int, Decimal, str, list or dict")


def _number(value: int | Decimal, where: str) -> str:
    if isinstance(value, int):
        return int.__repr__(value)
    if not value.is_finite():
        raise ValueError(f"{where or 'the value'}: {value} is no JSON number")
    return str(value)
