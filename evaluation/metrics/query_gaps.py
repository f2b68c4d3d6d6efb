"""What the right query of a question has and other queries lack: a table, a value, a condition.

Compares names and literals of the texts, without a catalog and without rows. What only other
queries have is not reported: a right query can be shorter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple, TypeAlias

from sqlglot import exp

from nl2sql.expectations.said_texts import is_said
from nl2sql.sql.nodes import find_all
from nl2sql.sql.parsing import find_tree
from nl2sql.sql.scopes import fold_case, name_ctes, name_table

GapKind: TypeAlias = Literal["table", "value", "definition", "other"]

_COMPARISONS = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike)


class Gap(NamedTuple):
    """The first thing that is missing; ``names`` are tables, ``column: value``, or columns."""

    kind: GapKind
    names: tuple[str, ...] = ()


class _Parts(NamedTuple):
    """Folded names of tables and columns, and the literals that columns are compared with."""

    tables: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    values: frozenset[tuple[str, str]] = frozenset()


def find_gap(
    right: str, others: Collection[str], question: str, dialect: str, tables: Collection[str] = ()
) -> Gap:
    """What is in ``right`` and in none of the ``others``; ``tables`` were found besides theirs.

    A value is missing if the question says it, or if others compare its column with something
    else. Any other condition or column means that a word of the question needs a definition.

    >>> count = "SELECT count(*) FROM orders"
    >>> find_gap(f"{count} WHERE status = 'CXL'", [count], "How many are void?", "postgres")
    Gap(kind='definition', names=('status: CXL',))
    >>> find_gap(f"{count} WHERE city = 'Ayr'", [count], "How many from Ayr?", "postgres")
    Gap(kind='value', names=('city: Ayr',))
    >>> find_gap("SELECT count(*) FROM sales.returns", [count], "How many returns?", "postgres")
    Gap(kind='table', names=('returns',))
    """
    wanted = _read_parts(right, dialect)
    read = [_read_parts(other, dialect) for other in others]
    found = {name.lower().rpartition(".")[2] for name in tables}
    if absent := wanted.tables.difference(found, *(each.tables for each in read)):
        return Gap("table", tuple(sorted(absent)))
    compared = {column for each in read for column, _ in each.values}
    texts = {text for each in read for _, text in each.values}
    values = sorted((column, text) for column, text in wanted.values if text not in texts)
    mistaken = [pair for pair in values if pair[0] in compared or is_said(pair[1], question)]
    if shown := tuple(f"{column}: {text}" for column, text in mistaken or values):
        return Gap("value" if mistaken else "definition", shown)
    columns = wanted.columns.difference(*(each.columns for each in read))
    return Gap("definition", tuple(sorted(columns))) if columns else Gap("other")


def _read_parts(sql: str, dialect: str) -> _Parts:
    """Empty for what cannot be parsed."""
    if (tree := find_tree(sql, dialect)) is None:
        return _Parts()
    aliases = {alias.alias.lower() for alias in find_all(tree, exp.Alias)}
    tables = {table.name.lower() for table in find_all(tree, exp.Table) if table.name}
    columns = {column.name.lower() for column in find_all(tree, exp.Column)}
    return _Parts(
        frozenset(tables - name_ctes(tree, fold_case)),
        frozenset(columns - aliases),
        frozenset(
            pair for each in find_all(tree, *_COMPARISONS) for pair in _read_comparison(each)
        ),
    )


def write_condition(sql: str, names: Collection[str], dialect: str) -> str:
    """The comparisons of ``sql`` with these ``column: value``, their columns with their tables.

    Empty if there are none.

    >>> write_condition("SELECT 1 FROM a.t x WHERE x.c = 'B' AND d = 1", ["c: B"], "postgres")
    "a.t.c = 'B'"
    """
    if (tree := find_tree(sql, dialect)) is None:
        return ""
    found: dict[str, None] = {}
    for comparison in find_all(tree, *_COMPARISONS):
        values = {f"{column}: {text}" for column, text in _read_comparison(comparison)}
        if values.isdisjoint(names):
            continue
        whole = comparison.parent if isinstance(comparison.parent, exp.Not) else comparison
        for column in find_all(comparison, exp.Column):
            name_table(column)
        found[whole.sql(dialect, comments=False)] = None
    return " AND ".join(found)


def _read_comparison(comparison: exp.Expr) -> Iterator[tuple[str, str]]:
    """The name of a column with each literal that it is compared with."""
    sides = (comparison.this, comparison.args.get("expression"), *comparison.expressions)
    for column in [*find_all(comparison, exp.Column)][:1]:
        for side in sides:
            if isinstance(side, exp.Literal):
                yield column.name.lower(), side.name.strip("%")
