"""Tables in FROM that no condition joins."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.types import Finding
from ranking.query import Query


def cartesian_join(query: Query) -> Finding | None:
    """An error if two tables are joined without ON, USING, NATURAL or a condition in WHERE.

    >>> from ranking.query import read_query
    >>> cartesian_join(read_query("SELECT 1 FROM a, b", "postgres")).message
    'Nothing joins b.'
    >>> cartesian_join(read_query("SELECT 1 FROM a, b WHERE a.x = b.x", "postgres"))
    """
    for select in query.selects():
        tied = _find_tied(select)
        for join in select.args.get("joins") or ():
            conditioned = join.args.get("on") or join.args.get("using") or join.method
            if conditioned or not isinstance(join.this, exp.Table):
                continue
            name = join.this.alias_or_name
            if tied.isdisjoint({name, ""}):
                return Finding("cartesian_join", "error", f"Nothing joins {name}.")
    return None


def _find_tied(select: exp.Select) -> set[str]:
    """The tables of which WHERE compares a column with another; "" for an unqualified column."""
    where = select.args.get("where")
    return {
        side.table
        for eq in (find_all(where, exp.EQ) if where else ())
        if isinstance(eq.left, exp.Column) and isinstance(eq.right, exp.Column)
        for side in (eq.left, eq.right)
    }
