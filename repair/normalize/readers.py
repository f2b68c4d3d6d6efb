"""Parses queries without interpreting functions, and writes trees and templates as SQL.

sqlglot's parsers give every known function its meaning in their dialect; in a query of mixed
dialects that is often wrong. Here a function stays a name with arguments until a rule translates
it; functions without a rule are written as they were read.
"""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp
from sqlglot.dialects import TSQL, Dialect, DuckDB, MySQL, Postgres, SQLite
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from nl2sql.sql.nodes import find_all
from nl2sql.sql.parsing import parse_one, parse_statements
from repair.normalize.facts import TEMPORAL, Facts

# Functions whose arguments are not separated by commas; all others are parsed as plain lists.
_SPECIAL = "CAST TRY_CAST SAFE_CAST EXTRACT POSITION SUBSTRING TRIM OVERLAY GROUP_CONCAT".split()
# Words and quotes of other dialects, where the target's own grammar cannot parse a query.
_BORROWED = {
    "TOP": TokenType.TOP,
    "MINUS": TokenType.EXCEPT,
    "REGEXP": TokenType.RLIKE,
    "MOD": TokenType.MOD,
    "DIV": TokenType.DIV,
}
_NUMBER = re.compile(r"\d+")
# Unquoted arguments of date functions that look like columns.
_UNITS = frozenset({"second", "minute", "hour", "day", "week", "month", "quarter", "year"})
# Nodes that never need parentheses.
_ATOMS = (
    exp.Column,
    exp.Literal,
    exp.Func,
    exp.Paren,
    exp.Null,
    exp.Boolean,
    exp.Var,
    exp.Star,
    exp.Subquery,
    exp.Window,
    exp.Identifier,
    exp.DataType,
)


def _loosen(base: type[Dialect], *, borrows: bool = False) -> type[Dialect]:
    """The dialect with a parser that does not interpret functions."""
    parsers = {**MySQL.parser_class.FUNCTION_PARSERS, **base.parser_class.FUNCTION_PARSERS}
    changed: dict[str, Any] = {
        "FUNCTIONS": {},
        "FUNCTION_PARSERS": {name: parsers[name] for name in _SPECIAL if name in parsers},
    }
    parser = type("Parser", (base.parser_class,), changed)
    # Otherwise the arguments of STRING_AGG(DISTINCT a, ',') would become one row.
    generator = type("Generator", (base.generator_class,), {"MULTI_ARG_DISTINCT": True})
    parts: dict[str, Any] = {"Parser": parser, "Generator": generator}
    if borrows:
        own = base.tokenizer_class
        quotes = [*own.IDENTIFIERS, *({"`"} - set(own.IDENTIFIERS))]
        words = {"KEYWORDS": {**own.KEYWORDS, **_BORROWED}, "IDENTIFIERS": quotes}
        parts["Tokenizer"] = type("Tokenizer", (own,), words)
    return type(f"Loose{base.__name__}", (base,), parts)


_TARGETS = {"postgres": Postgres, "sqlite": SQLite, "duckdb": DuckDB}
_READERS = {name: _loosen(base) for name, base in _TARGETS.items()}
# The most frequent in small models' queries first.
_FOREIGN = {
    name: _loosen(base, borrows=True)
    for name, base in {**_TARGETS, "mysql": MySQL, "tsql": TSQL}.items()
}


def read_query(sql: str, target: str) -> exp.Query | None:
    """The query's tree; None if it is not a single query of the target's dialect."""
    return _read(sql, _READERS[target])


def _read(sql: str, reader: type[Dialect]) -> exp.Query | None:
    try:
        trees = parse_statements(sql, reader)
    except (SqlglotError, RecursionError):
        return None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        return None
    return trees[0]


def read_foreign(sql: str, target: str) -> tuple[exp.Query, str] | None:
    """The query parsed with words of all dialects, and the dialect whose grammar could.

    The target's comes first. A dialect in which a number or an unquoted name of the query is lost
    is rejected.
    """
    for source in (target, *(name for name in _FOREIGN if name != target)):
        tree = _read(sql, _FOREIGN[source])
        if tree is not None and _keeps_everything(sql, tree, source):
            if source not in ("sqlite", target):
                # The position of NULLs is left to the target, unless the query states it.
                for ordered in find_all(tree, exp.Ordered):
                    ordered.set("nulls_first", None)
            return tree, source
    return None


def write_query(tree: exp.Expr, target: str) -> str:
    """The tree as SQL of the target; empty if it cannot be rendered."""
    try:
        return tree.sql(_READERS[target], comments=False)
    except (SqlglotError, RecursionError):
        return ""


def _keeps_everything(sql: str, tree: exp.Expr, source: str) -> bool:
    """False if a number or a word of the query is missing in the tree."""
    rendered = tree.sql(_FOREIGN[source], comments=False)
    if not set(_NUMBER.findall(sql)) <= set(_NUMBER.findall(rendered)):
        return False
    names = {column.name.lower() for column in find_all(tree, exp.Column)} - _UNITS
    return all(name in sql.lower() for name in names)


class _Operand:
    """An argument in a template: ``{x}``, ``{x:bare}``, ``{x:time}`` or ``{x:date}``."""

    def __init__(self, node: exp.Expr, facts: Facts) -> None:
        self._node, self._facts = node, facts

    def __format__(self, spec: str) -> str:
        text = self._node.sql(_READERS[self._facts.target], comments=False)
        if spec == "bare":
            return text
        is_atom = isinstance(self._node, _ATOMS) and not isinstance(self._node, exp.Binary)
        operand = text if is_atom else f"({text})"
        kind, is_sqlite = self._facts.kind_of(self._node), self._facts.target == "sqlite"
        if spec == "date" and kind != "date":
            return f"DATE({text})" if is_sqlite else f"CAST({text} AS DATE)"
        # SQLite stores dates as text and needs no cast.
        if spec == "time" and kind not in TEMPORAL and not is_sqlite:
            return f"CAST({text} AS TIMESTAMP)"
        return operand


def write(template: str, facts: Facts, **parts: exp.Expr | str) -> exp.Expr:
    """The tree of a template of the target's SQL, such as ``EXTRACT(YEAR FROM {x:time})``.

    An argument is inserted in parentheses if necessary; ``bare`` leaves them out, ``time`` casts to
    a date or time, ``date`` to a day, if it is not known to be one. Raises SqlglotError.
    """
    texts = {
        name: part if isinstance(part, str) else _Operand(part, facts)
        for name, part in parts.items()
    }
    # REPLACE(…) alone would be parsed as a command.
    query = parse_one(f"SELECT {template.format(**texts)}", _READERS[facts.target])
    part: exp.Expr = query.expressions[0]
    part.pop()
    return part
