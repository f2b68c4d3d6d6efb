"""A division of whole numbers, which loses the remainder."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.column_kinds import read_type
from nl2sql.types import Finding
from ranking.query import Query


def integer_division(query: Query) -> Finding | None:
    """A warning if both operands are whole numbers, in a dialect that truncates the quotient.

    >>> from ranking.query import read_query
    >>> integer_division(read_query("SELECT count(x) / count(*) FROM a", "postgres")).severity
    'warning'
    >>> integer_division(read_query("SELECT count(x) * 1.0 / count(*) FROM a", "postgres"))
    >>> integer_division(read_query("SELECT count(x) / count(*) FROM a", "duckdb"))
    """
    for div in query.find_all(exp.Div):
        if div.args.get("typed") and _is_whole(query, div.left) and _is_whole(query, div.right):
            message = f"{div.sql(query.dialect)} cuts the quotient to a whole number."
            return Finding("integer_division", "warning", message)
    return None


def _is_whole(query: Query, node: exp.Expr) -> bool:
    """True if the value is certainly a whole number."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        return not node.is_string and node.this.isdigit()
    if isinstance(node, exp.Count):
        return True
    if isinstance(node, exp.Sum | exp.Min | exp.Max):
        # PostgreSQL's sum of bigint is numeric.
        whole = _is_whole(query, node.this)
        return whole and not (isinstance(node, exp.Sum) and _is_big(query, node.this))
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        return _is_whole(query, node.left) and _is_whole(query, node.right)
    use = query.resolve(node)
    return use is not None and query.kind_of(use) == "integer"


def _is_big(query: Query, node: exp.Expr) -> bool:
    use = query.resolve(node)
    if query.dialect != "postgres" or use is None:
        return False
    return read_type(use.column.type, query.dialect) in (exp.DType.BIGINT, exp.DType.BIGSERIAL)
