"""Times of a receipt."""

from __future__ import annotations

import calendar
import re

from .canonical import Json
from .claims import has, of

_FORM = re.compile(r"(([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2}))(?:\.([0-9]{1,9}))?Z")


def moment(value: str) -> str:
    """A time in UTC so that texts compare as times do; "" for anything else."""
    found = _FORM.fullmatch(value)
    if found is None:
        return ""
    year, month, day, hour, minute, second = (int(found[n]) for n in range(2, 8))
    if not 1 <= month <= 12 or not 1 <= day <= _days(year, month) or hour > 23 or minute > 59 or second > 59:
        return ""
    return f"{found[1]}.{(found[8] or '').ljust(9, '0')}"


def _days(year: int, month: int) -> int:
    if month == 2:
        return 29 if calendar.isleap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def before(a: str, b: str) -> bool:
    """Two times of which the first is the earlier."""
    return moment(a) != "" and moment(a) < moment(b)


def no_time(value: Json, *names: str) -> str:
    """The first of these members that is there and is no time, "" for none."""
    return next((name for name in names if has(value, name) and moment(of(value, name)) == ""), "")
