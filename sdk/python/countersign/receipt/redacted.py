"""A redacted run has its digests, and not what they are of: its receipt is masked, and says that
it is redacted. Reasons stand in the log alone, which proves who redacted the run, and when."""

from __future__ import annotations

from .claims import Claims, at, has, of
from .failure import need
from .moment import moment
from .record import Record, done

REDACTED = "redacted"


def check_redacted(c: Claims) -> None:
    """Compares what the statement says of a redaction with the run."""
    says, by = has(c.statement, "redacted"), at(c.run, "redacted")
    can = c.redacted and c.masked and c.format != "countersign-receipt/1"
    need(not says or can, "statement", "redacted can only be true, of a masked receipt of a later format")
    need((by is not None) == says, "statement", "it says otherwise than the run whether that was redacted")
    need(not says or moment(of(by, "at")) != "", "statement", "the run was redacted at no time in UTC")


def check_redaction(c: Claims, records: list[Record]) -> None:
    """Finds the record of the redaction, one of each run that was redacted."""
    by = at(c.run, "redacted")
    found = [r for r in records if done(r, action="runs.redact", step="")]
    so = all(c.redacted and r.word("actor") == of(by, "by") and r.word("at") == of(by, "at") for r in found)
    need(so and (not c.redacted or len(found) == 1), "audit", "the log does not say that the run was redacted so")


def says_reason(c: Claims, record: Record, before: str, shown: str, behind: str = "") -> bool:
    """Whether a record has the reason that is shown, or redaction has left none of it."""
    said = record.word("reason")
    if c.redacted and shown == REDACTED:
        return len(said) >= len(before) + len(behind) and said.startswith(before) and said.endswith(behind)
    return said == before + shown + behind
