"""What the approval rules of a capability say of the inputs that a step sent: the same as
the service's gate, over exact numbers and three truth values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .canonical import Digits, Json
from .claims import at, items, of, text, whole
from .values import equal


@dataclass(frozen=True)
class Verdict:
    then: str
    """ALLOW, ASK or DENY."""
    approvals: int = 0
    groups: tuple[str, ...] = ()


_NO, _UNKNOWN, _YES = 0, 1, 2  # by their order: AND is the least, OR the greatest
_SEVERITY = {"ALLOW": 1, "ASK": 2, "DENY": 3}

Open = Callable[[str], bool]
"""Whether an input isn't known yet."""


def judge(rules: list[Json], asks: bool, given: Json, is_open: Open) -> Verdict:
    said, approvals, groups = "", 0, set[str]()
    for rule in rules:
        held = _holds(at(rule, "when"), given, is_open)
        then = {_YES: of(rule, "then"), _UNKNOWN: "ASK"}.get(held, "")
        weight, known = _SEVERITY.get(then, 0), _SEVERITY.get(said, 0)
        if weight == 0 or weight < known:
            continue
        if weight > known:
            said, approvals, groups = then, 0, set()
        approvals = max(approvals, whole(at(rule, "approvals")))
        groups |= {text(group) for group in items(at(rule, "groups"))}
    said = said or ("ASK" if asks else "ALLOW")
    if said != "ASK":
        return Verdict(said)
    return Verdict("ASK", max(1, approvals), tuple(sorted(groups, key=lambda group: group.encode())))


def _holds(condition: Json, given: Json, is_open: Open) -> int:
    if of(condition, "kind") != "group":
        return _compare(condition, *_read(given, of(condition, "variableId"), is_open))
    parts = [_holds(part, given, is_open) for part in items(at(condition, "conditions"))]
    return min([_YES, *parts]) if of(condition, "combinator") == "AND" else max([_NO, *parts])


def _compare(predicate: Json, value: Json, unclear: bool) -> int:
    if unclear:
        return _UNKNOWN
    operator, constant = of(predicate, "operator"), at(predicate, "value")
    if operator in ("isKnown", "isUnknown"):
        return _YES if (value is not None) == (operator == "isKnown") else _NO
    if value is None or type(value) is not type(constant):
        return _UNKNOWN
    if operator in ("eq", "neq"):
        return _YES if equal(value, constant) == (operator == "eq") else _NO
    if not isinstance(value, Digits):
        return _UNKNOWN
    sign = order(value.text, constant.text)
    told = {"gt": sign > 0, "gte": sign >= 0, "lt": sign < 0, "lte": sign <= 0}.get(operator)
    return _UNKNOWN if told is None else _YES if told else _NO


def _read(given: Json, path: str, is_open: Open) -> tuple[Json, bool]:
    """What stands at a path, None for nothing, and whether that is unclear: a dot separates
    names or belongs to one, and readings may differ."""
    if any(is_open(name) for name, _ in _splits(path)):
        return None, True
    found = list(_below(given if isinstance(given, dict) else {}, path))
    if any(not equal(value, found[0]) for value in found):
        return None, True
    return (found[0] if found else None), False


def _below(value: Json, path: str) -> Iterator[Json]:
    for name, rest in _splits(path):
        if isinstance(value, list):
            at_index = re.fullmatch("0|[1-9][0-9]{0,8}", name) is not None and int(name) < len(value)
            following = [value[int(name)]] if at_index else []
        else:
            following = [value[name]] if isinstance(value, dict) and name in value else []
        for found in following:
            yield from [found] if rest == "" else _below(found, rest)


def _splits(path: str) -> list[tuple[str, str]]:
    dots = [i for i, character in enumerate(path) if character == "."]
    return [(path, ""), *((path[:i], path[i + 1 :]) for i in reversed(dots))]


def order(a: str, b: str) -> int:
    """Compares two numbers in canonical form, exactly: below 0, 0 or above."""
    (sign_a, size_a, digits_a), (sign_b, size_b, digits_b) = _decimal(a), _decimal(b)
    if sign_a != sign_b:
        return sign_a - sign_b
    larger = ((size_a, digits_a) > (size_b, digits_b)) - ((size_a, digits_a) < (size_b, digits_b))
    return sign_a * larger


def _decimal(number: str) -> tuple[int, int, str]:
    """Sign, size and digits of a number that is 0.digits times ten to the power of size."""
    mantissa, _, power = number.partition("e")
    digits = mantissa.lstrip("-")
    if digits == "0":
        return 0, 0, ""
    return (-1 if mantissa.startswith("-") else 1), len(digits) + int(power or "0"), digits.rstrip("0")
