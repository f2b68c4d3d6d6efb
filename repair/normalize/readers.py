"""Parses queries without interpreting functions.

sqlglot's parsers give every known function its meaning in their dialect; in a query of mixed
dialects that is often wrong. Here a function stays a name with arguments until a rule translates
it; functions without a rule are written as they were read.
"""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp
from sqlglot.dialects import TSQL, BigQuery, Dialect, DuckDB, MySQL, Oracle, Postgres, SQLite
from sqlglot.errors import SqlglotError

from nl2sql.sql.nodes import find_all
from nl2sql.sql.parsing import parse_one, parse_statements

# Functions whose arguments are not separated by commas; all others are parsed as plain lists.
_SPECIAL = ("CAST", "TRY_CAST", "SAFE_CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM", "OVERLAY")
_NUMBER = re.compile(r"\d+")
# Unquoted arguments of date functions that look like columns.
_UNITS = frozenset({"second", "minute", "hour", "day", "week", "month", "quarter", "year"})


def _loosen(base: type[Dialect]) -> type[Dialect]:
    """The dialect with a parser that does not interpret functions."""
    parsers = base.parser_class.FUNCTION_PARSERS
    changed: dict[str, Any] = {
        "FUNCTIONS": {},
        "FUNCTION_PARSERS": {name: parsers[name] for name in _SPECIAL if name in parsers},
    }
    parser = type("Parser", (base.parser_class,), changed)
    # Otherwise the arguments of STRING_AGG(DISTINCT a, ',') would become one row.
    generator = type("Generator", (base.generator_class,), {"MULTI_ARG_DISTINCT": True})
    return type(f"Loose{base.__name__}", (base,), {"Parser": parser, "Generator": generator})


_READERS = {
    "postgres": _loosen(Postgres),
    "sqlite": _loosen(SQLite),
    "duckdb": _loosen(DuckDB),
    "mysql": _loosen(MySQL),
    "tsql": _loosen(TSQL),
    "bigquery": _loosen(BigQuery),
    "oracle": _loosen(Oracle),
}
# The other dialects, the most frequent in small models' queries first.
OTHERS = ("mysql", "sqlite", "postgres", "tsql", "bigquery", "oracle", "duckdb")


def read_query(sql: str, dialect: str) -> exp.Query | None:
    """The query's tree; None if it is not a single query of that dialect."""
    try:
        trees = parse_statements(sql, _READERS[dialect])
    except (SqlglotError, RecursionError):
        return None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        return None
    return trees[0]


def read_foreign(sql: str, target: str) -> tuple[exp.Query, str] | None:
    """The query parsed in another dialect, and that dialect.

    A dialect in which a number or an unquoted name of the query is lost is rejected.
    """
    for source in OTHERS:
        tree = None if source == target else read_query(sql, source)
        if tree is not None and _keeps_everything(sql, tree, source):
            if source not in ("sqlite", target):
                # The position of NULLs is left to the target, unless the query states it.
                for ordered in find_all(tree, exp.Ordered):
                    ordered.set("nulls_first", None)
            return tree, source
    return None


def write_query(tree: exp.Expr, target: str, *, copy: bool = True) -> str:
    """The tree as SQL of the target; empty if it cannot be rendered.

    Without ``copy`` the tree is modified.
    """
    try:
        return tree.sql(_READERS[target], comments=False, copy=copy)
    except (SqlglotError, RecursionError):
        return ""


def write_part(node: exp.Expr, target: str) -> str:
    """A part of a tree as SQL of the target."""
    return node.sql(_READERS[target], comments=False)


def read_part(sql: str, target: str) -> exp.Expr:
    """An expression's tree. Raises SqlglotError."""
    # REPLACE(…) alone would be parsed as a command.
    query = parse_one(f"SELECT {sql}", _READERS[target])
    part: exp.Expr = query.expressions[0]
    part.pop()
    return part


def _keeps_everything(sql: str, tree: exp.Expr, source: str) -> bool:
    """False if a number or a word of the query is missing in the tree."""
    rendered = write_query(tree, source).lower()
    if not set(_NUMBER.findall(sql)) <= set(_NUMBER.findall(rendered)):
        return False
    names = {column.name.lower() for column in find_all(tree, exp.Column)} - _UNITS
    return all(name in sql.lower() for name in names)
