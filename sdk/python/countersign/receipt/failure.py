"""The parts of a receipt, and the first of them that fails."""

from __future__ import annotations

from typing import NoReturn

SECTIONS = ("approvals", "audit", "plan", "requests", "run", "statement")
"""In their order. The other parts are frame, contents and signature."""


FORMATS = ("countersign-receipt/1", "countersign-receipt/2")
"""Those that this verifier knows: the first, and that of receipts with anything of the third
edition."""


class UnknownFormat(Exception):
    """Ends a verification of a receipt of a later release: nothing is said of whether it is valid."""

    def __init__(self, form: str) -> None:
        super().__init__(f"it is of the format {form}, which this release doesn't know; verify it with a later one")
        self.format = form


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
