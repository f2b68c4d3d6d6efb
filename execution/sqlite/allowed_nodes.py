"""Checks the tree that sqlglot parsed against SQLite's allowlist.

Unlike for PostgreSQL, there is no second parser for SQLite. Instead, the tree's nodes correspond to
SQLite's, operators have SQLite's precedence (``operators.py``), functions have the names that
SQLite will see (``dialect.py``), and SQLite itself reports to its authorizer which tables and
functions it found (``authorizer.py``).
"""

from __future__ import annotations

from sqlglot import exp

from execution.allowlists import Allowlist
from execution.sqlite.dialect import GuardedSqlite
from nl2sql.types import Violation


def check_functions(tree: exp.Expr, allowlist: Allowlist) -> Violation | None:
    """Returns None if all nodes, functions and types of the tree are on the allowlist."""
    for node in tree.walk():
        if violation := _check_node(node, allowlist):
            return violation
    return None


def _check_node(node: exp.Expr, allowlist: Allowlist) -> Violation | None:
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        if name in allowlist.functions:
            return None
        return Violation("function_not_allowed", name, f"The function {name} is not allowed.")
    if isinstance(node, exp.DataType):
        # Only CAST(… AS …) gives it a kind; SQLite has no `::` and no typed literals.
        if node.args.get("kind") in allowlist.types:
            return None
        name = node.sql()
        return Violation("type_not_allowed", name, f"The type {name} is not allowed.")
    kind = type(node).__name__
    if kind not in allowlist.nodes:
        return _refuse(node, f"{kind} is not allowed in a query.")
    if isinstance(node, exp.Join) and node.kind in ("ANTI", "SEMI"):
        return _refuse(node, f"{node.kind} is an alias to SQLite: write AS, or EXISTS.")
    if isinstance(node, exp.In) and node.args.get("field"):
        # `x IN name`: the name of a table, which was not resolved.
        return _refuse(node, "IN needs a list or a subquery.")
    if isinstance(node, exp.Distinct) and node.args.get("on"):
        return _refuse(node, "SQLite has no DISTINCT ON.")
    if isinstance(node, exp.TableAlias) and node.columns and not isinstance(node.parent, exp.CTE):
        return _refuse(node, "Only a CTE can name its columns.")
    return None


def _refuse(node: exp.Expr, message: str) -> Violation:
    return Violation("node_not_allowed", node.sql(GuardedSqlite)[:80], message)
