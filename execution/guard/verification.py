"""The second check of a rewritten query, for databases whose own grammar is not available.

Parses the text that will run again. Every physical table in it must be one that the guard found
and, if there is a policy, be inside its wrapper, which must be exactly the one that was built.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from execution.guard_dialects import READERS
from nl2sql.sql.names import fold_name
from nl2sql.sql.parsing import describe_parse_error, parse_one, parse_statements
from nl2sql.types import Violation

# Nodes that row filters of any table may add to a query.
_TIMES = 4

# Strings and quoted names come first: they may contain what looks like a placeholder.
_PLACEHOLDER = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`)|\?(\d+)""")


def check_wrapped(
    sql: str, tables: frozenset[str], wrappers: Mapping[str, Collection[str]] | None, dialect: str
) -> Violation | None:
    """Returns None if the text passes; ``wrappers`` are by table, None without a policy."""
    try:
        statements = parse_statements(name_placeholders(sql), READERS[dialect], times=_TIMES)
    except (SqlglotError, RecursionError) as error:
        reason = describe_parse_error(error)
        return Violation("unparsable", "", f"It cannot be read again: {reason}")
    if len(statements) != 1 or not isinstance(tree := statements[0], exp.Query | exp.Values):
        return Violation("multiple_statements", "", "Exactly one statement is allowed.")
    expected = [
        (name, _parse_wrapper(text, dialect))
        for name, texts in (wrappers or {}).items()
        for text in texts
    ]
    bare: set[str] = set()
    seen: set[str] = set()
    ctes = {cte.alias for cte in tree.find_all(exp.CTE)}
    pending: list[exp.Expr] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Select):
            inside = next((name for name, wrapper in expected if node == wrapper), None)
            if inside is not None:
                seen.add(inside)
                continue
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            if node.db and wrappers is not None:
                return Violation(
                    "unfiltered_table", node.sql(), f"{node.sql()} stands outside its filter."
                )
            if node.db:
                seen.add(f"{node.db}.{node.name}")
            else:
                bare.add(node.name)
        pending.extend(node.iter_expressions())
    if odd := sorted((seen ^ tables) | (bare - ctes)):
        names = ", ".join(odd)
        return Violation("tables_disagree", names, f"Two readings disagree about {names}.")
    return None


@lru_cache(maxsize=4096)
def list_reads(text: str, dialect: str) -> frozenset[str]:
    """The columns that a wrapper reads, as ``schema.table.column``, folded.

    If several of its tables have the same name, a column counts for each of them.
    """
    tree = _parse_wrapper(text, dialect)
    tables: dict[str, set[str]] = {}
    for table in tree.find_all(exp.Table):
        if table.db:
            tables.setdefault(table.alias_or_name, set()).add(f"{table.db}.{table.name}")
    return frozenset(
        fold_name(f"{table}.{column.name}", dialect)
        for column in tree.find_all(exp.Column)
        for table in tables.get(column.table, ())
    )


@lru_cache(maxsize=4096)
def _parse_wrapper(text: str, dialect: str) -> exp.Expr:
    return parse_one(name_placeholders(text), READERS[dialect])


def name_placeholders(sql: str) -> str:
    """Writes ``?1`` as ``:p1``: sqlglot does not read a number after a question mark.

    >>> name_placeholders("SELECT `?1` FROM t WHERE x = ?2")
    'SELECT `?1` FROM t WHERE x = :p2'
    """
    return _PLACEHOLDER.sub(lambda found: found[1] or f":p{found[2]}", sql)
