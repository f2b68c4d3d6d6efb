"""Whether a guarded query gives the same rows as long as the data stay as they are.

It does if everything in it is known to compute from its arguments and the tables alone: each
function is on the list of its dialect in ``execution/allowlists`` (a user's additions are not
known), and is not one of those that read the clock; each table is a table, or a view whose query
passes the same test. What cannot be told counts as changing.

PostgreSQL and SQLite also read the clock where a text such as ``now`` becomes a date. So a query
with such a word in a string changes, and one in which any other text may become a date: on
PostgreSQL a cast of what is not a date before, on SQLite every date function on a column.

Knows nothing of rows that the database itself computes or fetches: policies and partitions of
others on PostgreSQL, generated columns on DuckDB. With those, the revision of the data is unknown
(``execution/postgres/revision.py``, ``execution/duckdb/revision.py``). Operators and casts that
users define are taken to compute from their operands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp
from sqlglot.errors import SqlglotError

from execution.allowlists import load_allowlist
from execution.guard.verification import name_placeholders
from execution.guard_dialects import list_nodes, parse_statements
from nl2sql.catalog import Catalog, Table
from nl2sql.sql.column_kinds import NUMBERS, TIMES, find_kind, kind_of
from nl2sql.types import GuardedQuery

_LASTING_KINDS = frozenset({"table", "materialized view"})

# Under these names they read the clock, whether called or written as a word.
_CLOCKS = frozenset(
    "ago current_date current_time current_timestamp get_current_time get_current_timestamp "
    "localtime localtimestamp now today transaction_timestamp".split()
)
# `age(x)` is the time from x until now, `age(x, y)` is not.
_CLOCKS_OF_ONE = frozenset({"age"})
# What makes a date of this word reads the clock.
_WORDS = re.compile(r"\b(?:now|today|tomorrow|yesterday)\b", re.IGNORECASE)

# Nodes of sqlglot that are functions to it, but syntax or operators to the databases.
_SYNTAX = (
    *(exp.And, exp.Array, exp.ArrayContainedBy, exp.ArrayContainsAll, exp.ArrayOverlaps, exp.Case),
    *(exp.Cast, exp.Coalesce, exp.Collate, exp.Exists, exp.Extract, exp.GenerateSeries, exp.If),
    *(exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar, exp.Or),
    *(exp.Overlay, exp.Pad, exp.Pow, exp.RegexpILike, exp.RegexpLike, exp.RegexpReplace),
    *(exp.Repeat, exp.Replace, exp.StrPosition, exp.Struct, exp.Substring, exp.Trim, exp.Unnest),
)

# What the grammars of PostgreSQL and DuckDB have as syntax, so that no allowlist names it.
_SYNTAX_NAMES = frozenset("coalesce greatest grouping least nullif".split())

# SQLite's date functions, and which of their arguments are dates.
_SQLITE_DATES = {
    **dict.fromkeys(("date", "datetime", "julianday", "time", "unixepoch"), (0,)),
    "strftime": (1,),
    "timediff": (0, 1),
}
# Functions of PostgreSQL that return no text unless they are given one.
_DATES_TO_DATES = frozenset(
    "coalesce date_bin date_part date_trunc first_value greatest lag last_value lead least "
    "make_date make_timestamp max min nullif timezone to_date to_timestamp".split()
)
_WITHOUT_TEXT = (exp.And, exp.Case, exp.Cast, exp.Coalesce, exp.Extract, exp.If, exp.Or)
_NOT_TEXT = frozenset({*NUMBERS, *TIMES, "boolean", "interval"})


def is_repeatable(query: GuardedQuery, catalog: Catalog) -> bool:
    """Whether the same data give the same rows; ``catalog`` is the whole of the database."""
    return _Reading(catalog).passes(query.sql, query.tables)


class _Reading:
    """One query, with the views that it reads."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._dialect = catalog.dialect
        self._functions = load_allowlist(catalog.dialect).functions | _SYNTAX_NAMES
        self._views: set[str] = set()

    def passes(self, sql: str, tables: Iterable[str]) -> bool:
        """Whether the text and its tables compute from the data alone."""
        found = [self._catalog.table(name) for name in tables]
        known = [table for table in found if table is not None]
        if len(known) < len(found) or not all(map(self._lasts, known)):
            return False
        try:
            (tree,) = parse_statements(name_placeholders(sql), self._dialect)
        except (SqlglotError, RecursionError, ValueError):
            return False
        nodes = list_nodes(tree)
        plain = self._list_plain_columns(nodes, known)
        return all(self._is_known(node, plain) for node in nodes)

    def _lasts(self, table: Table) -> bool:
        if table.kind != "view":
            return table.kind in _LASTING_KINDS
        if table.qualified in self._views:
            return True
        self._views.add(table.qualified)
        try:
            (tree,) = parse_statements(table.definition, self._dialect)
        except (SqlglotError, RecursionError, ValueError):
            return False
        ctes = {cte.alias for cte in tree.find_all(exp.CTE)}
        names = []
        for node in tree.find_all(exp.Table):
            if not isinstance(node.this, exp.Identifier) or (not node.db and node.name in ctes):
                continue
            read = self._catalog.resolve(node.name, node.db)
            if read is None:
                return False
            names.append(read.qualified)
        return self.passes(table.definition, names)

    def _is_known(self, node: exp.Expr, plain: frozenset[str]) -> bool:
        if isinstance(node, exp.Identifier) and not node.quoted:
            # A word such as LOCALTIME is a column to sqlglot.
            return node.name.lower() not in _CLOCKS
        if isinstance(node, exp.Literal):
            has_words = self._dialect != "duckdb" and node.is_string
            return not (has_words and _WORDS.search(node.name))
        if isinstance(node, exp.Anonymous):
            return self._is_known_call(node, plain)
        if isinstance(node, exp.Cast) and self._dialect == "postgres":
            return kind_of(node.to) not in TIMES or _cannot_be_word(node.this, plain)
        return not isinstance(node, exp.Func) or isinstance(node, _SYNTAX)

    def _is_known_call(self, node: exp.Anonymous, plain: frozenset[str]) -> bool:
        name = node.name.lower()
        given = node.expressions
        if name in _CLOCKS or name not in self._functions:
            return False
        if name in _CLOCKS_OF_ONE:
            return len(given) > 1
        if self._dialect == "sqlite" and (dates := _SQLITE_DATES.get(name)):
            return len(given) > max(dates) and all(
                isinstance(given[at], exp.Literal) for at in dates
            )
        if self._dialect == "postgres" and name == "date":
            return all(_cannot_be_word(each, plain) for each in given)
        return True

    def _list_plain_columns(
        self, nodes: Iterable[exp.Expr], tables: Iterable[Table]
    ) -> frozenset[str]:
        """The names under which the query can only mean columns that hold no text."""
        kinds: dict[str, set[str]] = {}
        for table in tables:
            for column in table.columns:
                kinds.setdefault(column.name, set()).add(find_kind(column.type, self._dialect))
        new = {node.alias for node in nodes if isinstance(node, exp.Alias)}
        for node in nodes:
            if isinstance(node, exp.TableAlias):
                new |= {column.name for column in node.columns} | {node.name}
        return frozenset(name for name, found in kinds.items() if found <= _NOT_TEXT) - new


def _cannot_be_word(operand: exp.Expr, plain: frozenset[str]) -> bool:
    """Whether it is no text, or a text that is written in the query, which is searched itself."""
    for node in list_nodes(operand):
        if isinstance(node, exp.Column):
            if node.name not in plain:
                return False
        elif isinstance(node, exp.Anonymous):
            if node.name.lower() not in _DATES_TO_DATES:
                return False
        elif isinstance(node, exp.DPipe | exp.Placeholder | exp.Parameter | exp.Query) or (
            isinstance(node, exp.Func) and not isinstance(node, _WITHOUT_TEXT)
        ):
            return False
    return True
