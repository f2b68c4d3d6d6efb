"""Conditions on one row that cannot hold together."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query


def contradiction(query: Query) -> Finding | None:
    """An error if one column must equal two values at once.

    "In both 2014 and 2015" needs two rows; two conditions on the same row never find them.

    >>> from ranking.query import read_query
    >>> contradiction(read_query("SELECT 1 FROM a WHERE y = 2014 AND y = 2015", "sqlite")).rule
    'contradiction'
    >>> contradiction(read_query("SELECT 1 FROM a WHERE y = 2014 OR y = 2015", "sqlite"))
    """
    for select in query.selects():
        for part in ("where", "having"):
            clause = select.args.get(part)
            wanted: dict[str, str] = {}
            for condition in _list_conditions(clause.this) if clause is not None else ():
                column, value = condition.left, condition.right
                if not isinstance(column, exp.Column) or not isinstance(value, exp.Literal):
                    continue
                name = column.sql().lower()
                if wanted.setdefault(name, value.this) != value.this:
                    message = f"{column.sql()} cannot be {wanted[name]} and {value.this} at once."
                    return Finding("contradiction", "error", message)
    return None


def _list_conditions(condition: exp.Expr) -> list[exp.EQ]:
    """The equalities that must all hold."""
    parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
    return [equality for part in parts if isinstance(equality := part.unnest(), exp.EQ)]
