"""What a reconciliation names as differing from what was sent."""

from __future__ import annotations

from .canonical import Json
from .capability import capability
from .claims import Claims, at, has, items, of
from .failure import need
from .values import equal


def as_differing(c: Claims, step: Json) -> None:
    """Compares it with the inputs. What was found stands nowhere else."""
    if c.masked:
        return
    selected = f"{of(capability(c, step), 'outputField')}."
    for one in items(at(at(step, "reconciliation"), "differs")):
        field = of(one, "field")
        names = [field, field[len(selected) :]] if field.startswith(selected) else [field]
        inputs = at(step, "input")
        sent = any(has(inputs, name) and equal(at(one, "sent"), at(inputs, name)) for name in names)
        differs = sent and not equal(at(one, "found"), at(one, "sent"))
        need(differs, "run", f"step {of(step, 'id')} names {field} as differing from what was sent, which it does not")


def differs_words(reconciliation: Json) -> str:
    """How the record of a reconciliation names what differs."""
    fields = [of(one, "field") for one in items(at(reconciliation, "differs"))]
    return f" (differs from what was sent: {', '.join(fields)})" if fields else ""
