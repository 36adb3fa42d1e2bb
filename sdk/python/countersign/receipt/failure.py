"""The parts of a receipt, and the first of them that fails."""

from __future__ import annotations

from typing import NoReturn

SECTIONS = ("approvals", "audit", "plan", "requests", "run", "statement")
"""In their order. The other parts are frame, contents and signature."""


class Failure(Exception):
    """Ends a verification at the first part that fails."""

    def __init__(self, section: str, problem: str) -> None:
        super().__init__(problem)
        self.section = section


def fail(section: str, problem: str) -> NoReturn:
    raise Failure(section, problem)


def need(ok: bool, section: str, problem: str) -> None:
    if not ok:
        fail(section, problem)
