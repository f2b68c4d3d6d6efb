"""The allowlist of SQLite, held against the tree that sqlglot read.

There is no second grammar of SQLite's to ask, as there is of PostgreSQL's. What takes its place:
the tree's nodes are SQLite's own, functions are the names that SQLite will see (see
``dialect.py``), and SQLite itself tells its authorizer which tables and functions it found
in the text, see ``authorizer.py``. Where sqlglot groups operators otherwise than SQLite
does, the query is refused: with parentheses it would pass.
"""

from __future__ import annotations

from sqlglot import exp

from execution.allowlists import Allowlist
from execution.sqlite.dialect import GuardedSqlite
from nl2sql.types import Violation

_NULL_SAFE = (exp.NullSafeEQ, exp.NullSafeNEQ)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, *_NULL_SAFE)
# To SQLite these bind like `=` and from the left; to sqlglot tighter than any comparison.
_RANGES = (exp.Between, exp.Escape, exp.Glob, exp.In, exp.Like, exp.Not)


def check_functions(tree: exp.Expr, allowlist: Allowlist) -> Violation | None:
    """None when all nodes, functions and types of the tree are on the allowlist."""
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
        # Only CAST(… AS …) gives it a kind; `::` and typed literals are no SQL of SQLite's.
        if node.args.get("kind") in allowlist.types:
            return None
        name = node.sql()
        return Violation("type_not_allowed", name, f"The type {name} is not allowed.")
    kind = type(node).__name__
    if kind not in allowlist.nodes:
        return _refuse(node, f"{kind} is not allowed in a query.")
    if isinstance(node, exp.In) and node.args.get("field"):
        # `x IN name`: the name is a table's, which no scope has resolved.
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
    """True for comparisons within comparisons that two parsers would group in two ways."""
    if isinstance(node, exp.Connector | exp.Not | exp.Paren) or not isinstance(
        node, (exp.Binary, exp.Unary, *_RANGES)
    ):
        return False
    operands = [node.args.get(key) for key in ("this", "expression", "low", "high")]
    if isinstance(node, exp.Escape) and isinstance(node.this, exp.Like):
        operands = [node.this.this, node.this.expression, node.expression]
    if isinstance(node, _NULL_SAFE):
        # sqlglot puts parentheses of its own around what stands beside IS [NOT] DISTINCT FROM.
        parentheses = (operand for operand in operands if isinstance(operand, exp.Paren))
        if any(operand.find(*_RANGES) for operand in parentheses):
            return True
    odd = (*_RANGES, *_COMPARISONS) if isinstance(node, _RANGES) else _RANGES
    return any(isinstance(operand, odd) for operand in operands)


def _refuse(node: exp.Expr, message: str) -> Violation:
    return Violation("node_not_allowed", node.sql(GuardedSqlite)[:80], message)
