"""Values in their canonical form: to compare them, and to take the plan's digest."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote_to_bytes

from .canonical import MAX_PLAIN_ZEROS, Digits, Json
from .claims import at, has, members

_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?")
_LONGEST_POWER = 30  # digits; no number in canonical form has so many


def encoded(value: Json) -> str:
    """A value in canonical form; what is missing reads as null."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Digits):
        return value.text
    if isinstance(value, list):
        return f"[{','.join(map(encoded, value))}]"
    names = sorted(value, key=lambda name: str(name).encode())
    return f"{{{','.join(f'{_quoted(name)}:{encoded(value[name])}' for name in names)}}}"


def _quoted(value: str) -> str:
    """JSON's two short escapes that the canonical form has not are written out."""
    long = {"\\b": "\\u0008", "\\f": "\\u000c"}
    return re.sub(r"\\.", lambda found: long.get(found[0], found[0]), json.dumps(value, ensure_ascii=False))


def equal(a: Json, b: Json) -> bool:
    return encoded(a) == encoded(b)


def plan_content(plan: Json) -> str:
    """What a plan's digest is taken of."""
    content: dict[str, Json] = {"projects": None, "steps": None}
    content |= {name: at(plan, name) for name in ("agents", "gate", "projects", "steps", "team") if has(plan, name)}
    for name, absent in (("modelId", ""), ("modelRevision", Digits("0")), ("scenarioId", "")):
        value = at(plan, name)
        content[name] = absent if value is None else value
    inputs = at(plan, "planningInputs")
    content["planningInputs"] = None if inputs == {} else inputs
    return encoded(content)


def same_body(shown: Json, sent: str) -> bool:
    """Compares a body in canonical form with the text that is sent."""
    if sent == "":
        return shown is None
    try:
        value = json.loads(sent, parse_int=_digits, parse_float=_digits, parse_constant=_constant, object_pairs_hook=_object)
        return equal(shown, _well_formed(value))
    except (ValueError, RecursionError):
        return False


def same_query(shown: Json, address: str) -> bool:
    """Compares a query with that of the url."""
    seen: set[str] = set()
    for pair in filter(None, address.partition("?")[2].split("&")):
        name, _, value = pair.partition("=")
        name_text, value_text = _unescaped(name), _unescaped(value)
        if name_text is None or value_text is None or name_text in seen or name_text not in members(shown):
            return False
        if not _same_text(members(shown)[name_text], value_text):
            return False
        seen.add(name_text)
    return len(seen) == len(members(shown))


def _unescaped(value: str) -> str | None:
    if re.search(r"%(?![0-9A-Fa-f]{2})", value):
        return None
    try:
        return unquote_to_bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _same_text(shown: Json, value: str) -> bool:
    if isinstance(shown, bool):
        return value == encoded(shown)
    if isinstance(shown, str):
        return shown == value
    if isinstance(shown, Digits):
        return _NUMBER.fullmatch(value) is not None and plain_number(value) == shown.text
    return True


def plain_number(value: str) -> str:
    """Spells a number of JSON in the one form."""
    found = _NUMBER.fullmatch(value)
    assert found is not None
    sign, integer, fraction, power_sign, power = found[1], found[2], found[3] or "", found[4] or "", (found[5] or "").lstrip("0")
    digits = (integer + fraction).lstrip("0")
    short = digits.rstrip("0")
    if short == "":
        return "0"
    if len(power) > _LONGEST_POWER:
        return value
    exponent = int(power_sign + (power or "0")) - len(fraction) + len(digits) - len(short)
    if 0 <= exponent <= MAX_PLAIN_ZEROS:
        return f"{sign}{short}{'0' * exponent}"
    return f"{sign}{short}e{exponent}"


def _digits(text: str) -> Digits:
    return Digits(plain_number(text))


def _constant(text: str) -> Any:
    raise ValueError(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {_replaced(name): value for name, value in pairs}


def _well_formed(value: Json) -> Json:
    if isinstance(value, str):
        return _replaced(value)
    if isinstance(value, list):
        return [_well_formed(item) for item in value]
    if isinstance(value, dict):
        return {name: _well_formed(item) for name, item in value.items()}
    return value


def _replaced(value: str) -> str:
    """U+FFFD for lone surrogates, which UTF-8 has not."""
    return re.sub("[\ud800-\udfff]", "\ufffd", value)
