"""Parts of the difference of two dates, which PostgreSQL counts in days."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import list_inner_first, read_word, replace_calls, write
from repair.normalize.facts import Facts
from repair.normalize.units import find_unit

_WRITTEN = {
    "day": "{x}",
    "week": "{x} / 7",
    "year": "EXTRACT(YEAR FROM AGE({a}, {b}))",
    "hour": "{x} * 24",
    "minute": "{x} * 1440",
    "second": "{x} * 86400",
    "epoch": "{x} * 86400",
}


def date_spans(tree: exp.Expr, facts: Facts) -> bool:
    """``EXTRACT(DAY FROM a - b)`` of two dates becomes ``a - b``, a whole number of days.

    PostgreSQL has no parts of a number; the difference of timestamps is an interval and has them.
    """
    if facts.target != "postgres":
        return False
    changed = False
    for node in list_inner_first(tree, exp.Extract):
        new = _build(read_word(node.this), node.expression, facts)
        if new is not None:
            node.replace(new)
            changed = True

    def build(call: exp.Anonymous) -> exp.Expr | None:
        args = call.expressions
        return _build(read_word(args[0]), args[1], facts) if len(args) == 2 else None

    return replace_calls(tree, ("DATE_PART", "DATEPART"), build) or changed


def _build(word: str, value: exp.Expr, facts: Facts) -> exp.Expr | None:
    """The part in days; None if the value is not the difference of two dates."""
    span = value.unnest()
    template = _WRITTEN.get(find_unit(word) or word.lower())
    if template is None or not isinstance(span, exp.Sub):
        return None
    sides = span.left, span.right
    if any(facts.kind_of(side) != "date" for side in sides):
        return None
    new = write(template, facts, x=span.copy(), a=span.left.copy(), b=span.right.copy())
    return exp.paren(new, copy=False) if isinstance(new, exp.Binary) else new
