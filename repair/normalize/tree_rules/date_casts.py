"""Conversions of text and numbers to dates."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.column_kinds import kind_of
from repair.normalize.calls import list_inner_first, read_text, replace_calls, write
from repair.normalize.facts import Facts

_CALLS = {
    "DATETIME": {"postgres": "CAST({x} AS TIMESTAMP)", "duckdb": "CAST({x} AS TIMESTAMP)"},
    "TIMESTAMP": {
        "postgres": "CAST({x} AS TIMESTAMP)",
        "sqlite": "DATETIME({x})",
        "duckdb": "CAST({x} AS TIMESTAMP)",
    },
    "TO_DATE": {
        "postgres": "CAST({x} AS DATE)",
        "sqlite": "DATE({x})",
        "duckdb": "CAST({x} AS DATE)",
    },
    "FROM_UNIXTIME": {
        "postgres": "TO_TIMESTAMP({x})",
        "sqlite": "DATETIME({x}, 'unixepoch')",
        "duckdb": "TO_TIMESTAMP({x})",
    },
    "UNIX_TIMESTAMP": {
        "postgres": "EXTRACT(EPOCH FROM CAST({x} AS TIMESTAMP))",
        "sqlite": "CAST(STRFTIME('%s', {x}) AS INTEGER)",
        "duckdb": "EPOCH(CAST({x} AS TIMESTAMP))",
    },
    "UNIXEPOCH": {
        "postgres": "EXTRACT(EPOCH FROM CAST({x} AS TIMESTAMP))",
        "duckdb": "EPOCH(CAST({x} AS TIMESTAMP))",
    },
}
_SQLITE = {"date": "DATE", "timestamp": "DATETIME"}


def date_casts(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``DATETIME(x)``, ``FROM_UNIXTIME(x)``, ``UNIX_TIMESTAMP(x)``.

    On SQLite also ``DATE '…'``: a cast to a date is one to a number there, 2024 for
    ``'2024-01-31'``.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        template = _CALLS[call.name.upper()].get(facts.target)
        if template is None or len(call.expressions) != 1:
            return None
        return write(template, facts, x=call.expressions[0])

    changed = replace_calls(tree, _CALLS, build)
    if facts.target == "sqlite":
        for cast in list_inner_first(tree, exp.Cast):
            name = _SQLITE.get(kind_of(cast.to))
            if name is None:
                continue
            is_literal = read_text(cast.this) is not None
            template = "{x}" if is_literal else f"{name}({{x}})"
            cast.replace(write(template, facts, x=cast.this))
            changed = True
    return changed
