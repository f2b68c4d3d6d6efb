"""A join without a condition."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding


def cartesian_join(tree: exp.Expr) -> Finding | None:
    """An error where two tables meet without ON, USING, NATURAL or a condition in WHERE.

    >>> import sqlglot
    >>> cartesian_join(sqlglot.parse_one("SELECT 1 FROM a, b")).rule
    'cartesian_join'
    >>> cartesian_join(sqlglot.parse_one("SELECT 1 FROM a, b WHERE a.x = b.x"))
    >>> cartesian_join(sqlglot.parse_one("SELECT 1 FROM a JOIN b ON a.x = b.x"))
    """
    for select in tree.find_all(exp.Select):
        for join in select.args.get("joins") or ():
            conditioned = join.args.get("on") or join.args.get("using") or join.method
            if conditioned or not isinstance(join.this, exp.Table) or _is_related(select, join):
                continue
            name = join.this.alias_or_name
            return Finding("cartesian_join", "error", f"{name} is joined without a condition.")
    return None


def _is_related(select: exp.Select, join: exp.Join) -> bool:
    """True when WHERE compares a column of the joined table, or a bare one, with another."""
    where = select.args.get("where")
    if where is None:
        return False
    name = join.this.alias_or_name
    return any(
        isinstance(equal.left, exp.Column)
        and isinstance(equal.right, exp.Column)
        and {equal.left.table, equal.right.table} & {name, ""}
        for equal in where.find_all(exp.EQ)
    )
