"""What the approval rules of a capability say of the inputs that a step sent: the same as
internal/rules/gate, over exact numbers and three truth values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .canonical import Digits, Json
from .claims import at, items, members, of, text, whole
from .folding import folded
from .values import equal


@dataclass(frozen=True)
class Verdict:
    then: str
    """ALLOW, ASK or DENY."""
    approvals: int = 0
    groups: list[str] = field(default_factory=list)


# Truth values by their order: AND is the least, OR the greatest.
_NO, _UNKNOWN, _YES = 0, 1, 2

_SEVERITY = {"ALLOW": 1, "ASK": 2, "DENY": 3}


class _Reading(NamedTuple):
    value: Json = None
    """None for nothing, and for null, which is the unknown value."""
    unclear: bool = False


Look = Callable[[str], _Reading]


FOLDING = 3
"""The edition of the gate since which a name in another case isn't another name."""


def judge(edition: int, rules: list[Json], asks: bool, given: Json, unknown: list[str]) -> Verdict:
    """Judges inputs by an edition of the gate; unknown names those that aren't known yet."""
    said, approvals, groups = "", 0, list[str]()
    for rule in rules:
        held = _holds(at(rule, "when"), lambda path: _read(edition >= FOLDING, given, path, unknown))
        then = {_YES: of(rule, "then"), _UNKNOWN: "ASK"}.get(held, "")
        weight, known = _SEVERITY.get(then, 0), _SEVERITY.get(said, 0)
        if weight == 0 or weight < known:
            continue
        if weight > known:
            said, approvals, groups = then, 0, []
        approvals = max(approvals, whole(at(rule, "approvals")))
        groups += [text(group) for group in items(at(rule, "groups"))]
    then = said or ("ASK" if asks else "ALLOW")
    if then != "ASK":
        return Verdict(then)
    return Verdict(then, max(1, approvals), sorted(set(groups), key=str.encode))


def _holds(condition: Json, look: Look) -> int:
    if of(condition, "kind") != "group":
        return _compare(condition, look(of(condition, "variableId")))
    parts = [_holds(part, look) for part in items(at(condition, "conditions"))]
    return min(parts, default=_YES) if of(condition, "combinator") == "AND" else max(parts, default=_NO)


def _compare(predicate: Json, found: _Reading) -> int:
    """What isn't there is unknown, and so is a value of another type than the one that it
    is compared with: nothing says how they relate."""
    value, constant, operator = found.value, at(predicate, "value"), of(predicate, "operator")
    if found.unclear:
        return _UNKNOWN
    if operator in ("isKnown", "isUnknown"):
        return _truth((value is not None) == (operator == "isKnown"))
    if value is None or type(value) is not type(constant):
        return _UNKNOWN
    if operator in ("eq", "neq"):
        return _truth(equal(value, constant) == (operator == "eq"))
    if not isinstance(value, Digits):
        return _UNKNOWN
    sign = order(value.text, constant.text)
    orders = {"gt": sign > 0, "gte": sign >= 0, "lt": sign < 0, "lte": sign <= 0}
    return _truth(orders[operator]) if operator in orders else _UNKNOWN


def _truth(value: bool) -> int:
    return _YES if value else _NO


class _Unclear(Exception):
    """Nobody can say which of several values the receiver reads."""


def _read(folds: bool, given: Json, path: str, unknown: list[str]) -> _Reading:
    """What stands at a path: a dot separates names or belongs to one, and where readings
    differ it is unclear. With folds so it is where a name stands there in another case,
    unless it stands beside the one of that case and has its value."""
    names = [name for name, _ in _splits(path)]
    if any(name in names or (folds and folded(name) in map(folded, names)) for name in unknown):
        return _Reading(unclear=True)
    try:
        found = list(_below(folds, members(given), path))
    except _Unclear:
        return _Reading(unclear=True)
    if any(not equal(value, found[0]) for value in found):
        return _Reading(unclear=True)
    return _Reading(found[0] if found else None)


def _below(folds: bool, value: Json, path: str) -> Iterator[Json]:
    for name, rest in _splits(path):
        branches = _branches(value, name)
        if folds and _other_case(members(value), name):
            raise _Unclear
        if name in branches and rest == "":
            yield branches[name]
        elif name in branches:
            yield from _below(folds, branches[name], rest)


def _other_case(value: dict[str, Json], name: str) -> bool:
    """Whether an object has a name in another case with another value than under that name."""
    key = folded(name)
    others = [value[other] for other in value if other != name and folded(other) == key]
    return bool(others) and (name not in value or any(not equal(other, value[name]) for other in others))


def _branches(value: Json, name: str) -> dict[str, Json]:
    """The members of an object, or the element of an array that has this index."""
    if isinstance(value, list):
        index = int(name) if re.fullmatch("0|[1-9][0-9]{0,14}", name) else len(value)
        return {name: value[index]} if index < len(value) else {}
    return members(value)


def _splits(path: str) -> Iterator[tuple[str, str]]:
    """Each way to take a first name off a path, the whole path first."""
    yield path, ""
    end = path.rfind(".")
    while end >= 0:
        yield path[:end], path[end + 1 :]
        end = path.rfind(".", 0, end)


def order(a: str, b: str) -> int:
    """Compares two numbers in canonical form, exactly."""
    x, y = _decimal(a), _decimal(b)
    return (x > y) - (x < y)


def _decimal(number: str) -> tuple[int, int, str]:
    """A number as what sorts as it does: sign, and size and digits of 0.digits times ten to
    the power of size; of a negative number both the other way round."""
    mantissa, _, power = number.partition("e")
    digits = mantissa.lstrip("-")
    if digits == "0":
        return 0, 0, ""
    size = len(digits) + int(power or "0")
    short = digits.rstrip("0")
    if not mantissa.startswith("-"):
        return 1, size, short
    # The end of the digits comes after every digit, as a shorter negative number is greater.
    return -1, -size, "".join(str(9 - int(digit)) for digit in short) + ":"
