"""The checks of a query on SQLite: of its tree, of the text that will run, and of its syntax.

Unlike for PostgreSQL, there is no second parser for SQLite. Instead, the tree's nodes correspond to
SQLite's, functions have the names that SQLite will see (``dialect.py``), and SQLite itself reports
to its authorizer which tables and functions it found (``authorizer.py``).

sqlglot's operators have another precedence than SQLite's, which makes no difference to the text
that will run, since operators are written in the order in which they were read. The exception is
NOT, which moves from ``a NOT IN b`` to the front. So comparisons in a row need parentheses.

The text that will run is parsed again. Every physical table in it must be one that the guard found
and, if there is a policy, be inside its wrapper, which must be exactly the one that was built.

sqlglot reads more than SQLite: a missing parenthesis, a comma behind the last item, FROM without
SELECT. What it made of such a text would have a meaning that the text has not. SQLite parses the
whole text before it looks for tables, so an empty database tells whether it accepts the text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from execution.allowlists import Allowlist, check_name
from execution.sqlite.dialect import GuardedSqlite, name_placeholders
from execution.sqlite.errors import build_diagnostic
from nl2sql.sql.parsing import describe_parse_error, parse_one, parse_statements
from nl2sql.types import Violation

# Nodes that row filters of any table may add to a query.
_TIMES = 4
_SYNTAX_ERROR = "42601"
_COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Between, exp.Escape, exp.Glob, exp.In, exp.Is, exp.Like, exp.Not),
)


def check_functions(tree: exp.Expr, allowlist: Allowlist) -> Violation | None:
    """Returns None if all nodes, functions and types of the tree are on the allowlist."""
    for node in tree.walk():
        if violation := _check_node(node, allowlist):
            return violation
    return None


def _check_node(node: exp.Expr, allowlist: Allowlist) -> Violation | None:
    if isinstance(node, exp.Anonymous):
        return check_name("function", node.name.lower(), allowlist.functions)
    if isinstance(node, exp.DataType):
        # Only CAST(… AS …) gives it a kind; SQLite has no `::` and no typed literals.
        kind = node.args.get("kind")
        return check_name("type", kind or node.sql(), allowlist.types if kind else ())
    if isinstance(node, exp.ILike | exp.Match | exp.RegexpLike):
        return _refuse(node, "SQLite has no ILIKE, MATCH or REGEXP of its own: write LIKE or GLOB.")
    kind = type(node).__name__
    if kind not in allowlist.nodes:
        return _refuse(node, f"{kind} is not allowed in a query.")
    if isinstance(node, exp.Join) and node.kind in ("ANTI", "SEMI"):
        return _refuse(node, f"{node.kind} is an alias to SQLite: write AS, or EXISTS.")
    if isinstance(node, _COMPARISONS) and _is_operand(node):
        return _refuse(node, "Write parentheses around a comparison inside another.")
    if isinstance(node, exp.In) and node.args.get("field"):
        # `x IN name`: the name of a table, which was not resolved.
        return _refuse(node, "IN needs a list or a subquery.")
    if isinstance(node, exp.Distinct) and node.args.get("on"):
        return _refuse(node, "SQLite has no DISTINCT ON.")
    if isinstance(node, exp.TableAlias) and node.columns and not isinstance(node.parent, exp.CTE):
        return _refuse(node, "Only a CTE can name its columns.")
    return None


def _is_operand(node: exp.Expr) -> bool:
    """Whether a comparison or NOT is itself compared or computed with, without parentheses."""
    around = node.parent
    if isinstance(around, exp.Escape):
        return not isinstance(node, exp.Like) or node.arg_key != "this"
    if isinstance(around, exp.In):
        return node.arg_key == "this"
    return isinstance(around, exp.Binary | exp.Between | exp.Unary) and not isinstance(
        around, exp.Connector | exp.Not | exp.Paren
    )


def _refuse(node: exp.Expr, message: str) -> Violation:
    return Violation("node_not_allowed", node.sql(GuardedSqlite)[:80], message)


def check_wrapped(
    sql: str, tables: frozenset[str], wrappers: Mapping[str, Collection[str]] | None
) -> Violation | None:
    """Returns None if the text passes; ``wrappers`` are by table, None without a policy."""
    try:
        statements = parse_statements(name_placeholders(sql), GuardedSqlite, times=_TIMES)
    except (SqlglotError, RecursionError) as error:
        reason = describe_parse_error(error)
        return Violation("unparsable", "", f"It cannot be read again: {reason}")
    if len(statements) != 1 or not isinstance(tree := statements[0], exp.Query | exp.Values):
        return Violation("multiple_statements", "", "Exactly one statement is allowed.")
    expected = [
        (name, _parse_wrapper(text)) for name, texts in (wrappers or {}).items() for text in texts
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
def _parse_wrapper(text: str) -> exp.Expr:
    return parse_one(name_placeholders(text), GuardedSqlite)


def check_syntax(sql: str) -> Violation | None:
    """Returns None if SQLite reads the text, whatever it would say of names."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            # Nothing runs: SQLite compiles the query and lists the steps.
            connection.execute(f"EXPLAIN {sql}")
        except (sqlite3.Error, sqlite3.Warning) as error:
            if build_diagnostic(error).sqlstate == _SYNTAX_ERROR:
                return Violation("unparsable", "", f"SQLite does not accept it: {error}")
    return None
