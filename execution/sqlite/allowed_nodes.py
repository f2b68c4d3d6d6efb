"""Checks the tree that sqlglot parsed against SQLite's allowlist.

Unlike for PostgreSQL, there is no second parser for SQLite. Instead, the tree's nodes correspond to
SQLite's, functions have the names that SQLite will see (``dialect.py``), and SQLite itself reports
to its authorizer which tables and functions it found (``authorizer.py``). A query in which sqlglot
and SQLite would group operators differently is refused: it needs parentheses.
"""

from __future__ import annotations

from sqlglot import exp

from execution.allowlists import Allowlist
from execution.sqlite.dialect import GuardedSqlite
from nl2sql.types import Violation

_NULL_SAFE = (exp.NullSafeEQ, exp.NullSafeNEQ)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, *_NULL_SAFE)
# In SQLite these bind like `=` and from the left; in sqlglot tighter than any comparison.
_RANGES = (exp.Between, exp.Escape, exp.Glob, exp.In, exp.Like, exp.Not)


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
    if isinstance(node, exp.In) and node.args.get("field"):
        # `x IN name`: the name of a table, which was not resolved.
        return _refuse(node, "IN needs a list or a subquery.")
    if isinstance(node, exp.Distinct) and node.args.get("on"):
        return _refuse(node, "SQLite has no DISTINCT ON.")
    if isinstance(node, exp.TableAlias) and node.columns and not isinstance(node.parent, exp.CTE):
        return _refuse(node, "Only a CTE can name its columns.")
    if _is_ambiguous(node):
        return Violation(
            "unparsable", node.sql(GuardedSqlite)[:80], "Such comparisons need parentheses."
        )
    return None


def _is_ambiguous(node: exp.Expr) -> bool:
    """True for nested comparisons that two parsers could group differently."""
    if isinstance(node, exp.Connector | exp.Not | exp.Paren) or not isinstance(
        node, (exp.Binary, exp.Unary, *_RANGES)
    ):
        return False
    operands = [node.args.get(key) for key in ("this", "expression", "low", "high")]
    if isinstance(node, exp.Escape) and isinstance(node.this, exp.Like):
        operands = [node.this.this, node.this.expression, node.expression]
    if isinstance(node, _NULL_SAFE):
        # sqlglot adds parentheses around the operands of IS [NOT] DISTINCT FROM.
        parentheses = (operand for operand in operands if isinstance(operand, exp.Paren))
        if any(operand.find(*_RANGES) for operand in parentheses):
            return True
    odd = (*_RANGES, *_COMPARISONS) if isinstance(node, _RANGES) else _RANGES
    return any(isinstance(operand, odd) for operand in operands)


def _refuse(node: exp.Expr, message: str) -> Violation:
    return Violation("node_not_allowed", node.sql(GuardedSqlite)[:80], message)
