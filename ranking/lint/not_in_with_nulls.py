"""NOT IN over a column that may be NULL, and then finds nothing."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.types import Finding
from ranking.query import Query


def not_in_with_nulls(query: Query) -> Finding | None:
    """A warning if the subquery's column is nullable and no condition excludes NULL.

    A column of the primary key is never NULL, whatever the schema declares.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> tables = [Table("s", "a", (Column("x", "int"),))]
    >>> sql = "SELECT 1 FROM b WHERE x NOT IN (SELECT x FROM a)"
    >>> not_in_with_nulls(read_query(sql, "postgres", tables)).message
    'NOT IN finds nothing once x is NULL.'
    """
    for node in query.find_all(exp.In):
        inner = node.args.get("query")
        if inner is None or not isinstance(node.parent, exp.Not):
            continue
        select = inner.this
        if not isinstance(select, exp.Select) or len(select.expressions) != 1:
            continue
        column = select.expressions[0].unalias()
        use = query.resolve(column)
        if use is None or not use.column.nullable or use.column.name in use.table.primary_key:
            continue
        if not _is_filtered(select, column):
            message = f"NOT IN finds nothing once {column.sql()} is NULL."
            return Finding("not_in_with_nulls", "warning", message)
    return None


def _is_filtered(select: exp.Select, column: exp.Expr) -> bool:
    """True if the subquery has a condition on the column itself."""
    where = select.args.get("where")
    return where is not None and any(
        used.name.lower() == column.name.lower() for used in find_all(where, exp.Column)
    )
