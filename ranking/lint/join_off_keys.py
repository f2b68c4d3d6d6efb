"""Columns of two tables compared without a foreign key between them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.types import Finding
from ranking.query import ColumnUse, Query


def join_off_keys(query: Query) -> Finding | None:
    """An error if a key column is joined, or compared by IN, with a column that it does not match.

    Not every schema declares its keys, so columns that are named after one another are allowed, and
    so are columns without keys of tables between which there is no key.

    >>> from nl2sql.catalog import Column, ForeignKey, Table
    >>> from ranking.query import read_query
    >>> tables = [
    ...     Table("s", "stadium", (Column("id", "int"),)),
    ...     Table("s", "concert", (Column("no", "int"), Column("stadium_id", "int"))),
    ... ]
    >>> keys = [ForeignKey("k", "s.concert", ("stadium_id",), "s.stadium", ("id",))]
    >>> sql = "SELECT 1 FROM stadium WHERE id NOT IN (SELECT no FROM concert)"
    >>> join_off_keys(read_query(sql, "sqlite", tables, keys)).message
    'No key ties id to no.'
    """
    for left, right in _list_pairs(query.tree):
        one, other = query.resolve(left), query.resolve(right)
        if one is None or other is None or one.table is other.table:
            continue
        if _is_named_after(one, other) or _is_named_after(other, one):
            continue
        if query.share_key(one, other):
            continue
        if (query.is_key(one) and query.is_key(other)) or query.are_tied(one.table, other.table):
            message = f"No key ties {left.sql()} to {right.sql()}."
            return Finding("join_off_keys", "error", message)
    return None


def _is_named_after(column: ColumnUse, target: ColumnUse) -> bool:
    """True if the names imply an undeclared key: ``start_station_id`` and ``station.id``."""
    name, other = column.column.name.lower(), target.column.name.lower()
    if name == other:
        return name != "id"
    return f"{target.table.name.lower()}_{other}" in name


def _list_pairs(tree: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Pairs of columns that the query compares for equality."""
    for node in find_all(tree, exp.EQ, exp.In):
        left = node.this
        right = node.args.get("expression" if isinstance(node, exp.EQ) else "query")
        if isinstance(right, exp.Subquery):
            inner = right.this
            if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
                continue
            right = inner.expressions[0].unalias()
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            yield left, right
