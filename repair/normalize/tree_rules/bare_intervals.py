"""Intervals that are written as numbers or texts."""

from __future__ import annotations

import re

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import write
from repair.normalize.facts import Facts

_SPAN = re.compile(r"\s*\d{1,5}\s+(?:second|minute|hour|day|week|month|year)s?\s*", re.IGNORECASE)


def bare_intervals(tree: exp.Expr, facts: Facts) -> bool:
    """``NOW() - 30`` becomes ``NOW() - INTERVAL '30 DAY'``; ``d - '3 months'`` likewise.

    PostgreSQL takes the text for a date, and adds a number to a date only, not to a timestamp.
    """
    if facts.target != "postgres":
        return False
    changed = False
    for node in list(find_all(tree, exp.Add, exp.Sub)):
        amount, kind = node.right, facts.kind_of(node.left)
        if not isinstance(amount, exp.Literal) or kind not in ("date", "timestamp"):
            continue
        if amount.is_string and _SPAN.fullmatch(amount.name):
            span = amount.name.strip()
        elif not amount.is_string and amount.name.isdigit() and kind == "timestamp":
            span = f"{amount.name} DAY"
        else:
            continue
        amount.replace(write(f"INTERVAL '{span}'", facts))
        changed = True
    return changed
