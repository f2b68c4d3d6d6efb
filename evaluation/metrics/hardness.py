"""Rates the hardness of a query as Spider does: easy, medium, hard or extra.

The rules are those of Spider's evaluation script (Yu et al. 2018, ``Evaluator.eval_hardness`` in
taoyds/spider ``evaluation.py``), including the oddities of its parser that affect the published
counts; comments name them. The rating needs no schema.

Only the outermost SELECT is rated, the leftmost one of a set operation. Constructs that Spider's
grammar lacks are mapped to similar ones: EXISTS and each common table expression count as a nested
query, ILIKE as LIKE. A subquery in FROM counts as a table, one in the select list does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.sql.parsing import parse_one


class _Counts(NamedTuple):
    """Spider's component 1 (clauses), component 2 (nested queries) and others."""

    clauses: int
    nested: int
    others: int


def rate_hardness(sql: str, dialect: str) -> str:
    """``easy``, ``medium``, ``hard`` or ``extra``; empty if the query is not a SELECT.

    >>> rate_hardness("SELECT count(*) FROM cars_data WHERE cylinders > 4", "sqlite")
    'easy'
    >>> rate_hardness("SELECT a, b FROM s JOIN t ON s.id = t.id GROUP BY a", "sqlite")
    'medium'
    """
    try:
        tree = parse_one(sql, dialect)
        counts = _count_all(tree)
    except (SqlglotError, RecursionError):
        return ""
    return _rate(counts) if counts else ""


def _rate(counts: _Counts) -> str:
    clauses, nested, others = counts
    if nested:
        return "hard" if nested == 1 and clauses <= 1 and others == 0 else "extra"
    if clauses <= 1 and others == 0:
        return "easy"
    if (clauses <= 1 and others <= 2) or (clauses <= 2 and others <= 1):
        return "medium"
    # The published rules are inconsistent: two clauses with exactly two others are extra, with
    # three only hard.
    if (clauses <= 2 and others > 2) or (clauses == 3 and others <= 2):
        return "hard"
    return "extra"


def _count_all(tree: exp.Expr) -> _Counts | None:
    """The counts of the leftmost SELECT, or None when there is none."""
    nested = 0
    query: object = tree
    while isinstance(query, exp.Subquery | exp.SetOperation):
        nested += isinstance(query, exp.SetOperation) + len(query.ctes)
        query = query.this
    if not isinstance(query, exp.Select):
        return None
    where = list(_walk(_clause(query, "where")))
    having = list(_walk(_clause(query, "having")))
    joins = query.args.get("joins") or ()
    conditions = [*where, *having, *_walk(join.args.get("on") for join in joins)]
    nested += len(query.ctes) + _count(conditions, exp.Query)

    keywords = sum(bool(query.args.get(name)) for name in ("where", "group", "order", "limit"))
    clauses = keywords + len(joins) + _count(conditions, exp.Or, exp.Like, exp.ILike)

    order, group = _clause_items(query, "order"), _clause_items(query, "group")
    # Spider reads a condition's aggregate from the field in which its parser stores NOT: a negated
    # condition counts as an aggregate, the aggregate of a HAVING does not.
    aggregates = _count(_walk([*query.expressions, *order]), exp.AggFunc)
    aggregates += sum(_is_negation(node) for node in (*where, *having))
    others = (
        (aggregates > 1)
        + (len(query.expressions) > 1)
        + (_count(where, exp.And, exp.Or) > 0)
        + (len(group) > 1)
    )
    return _Counts(clauses, nested, others)


def _clause(select: exp.Select, name: str) -> tuple[exp.Expr, ...]:
    clause = select.args.get(name)
    return (clause.this,) if clause else ()


def _clause_items(select: exp.Select, name: str) -> list[exp.Expr]:
    clause = select.args.get(name)
    return clause.expressions if clause else []


def _is_negation(node: exp.Expr) -> bool:
    """True for NOT IN, NOT LIKE and the like; the NOT of IS NOT belongs to its operator."""
    return isinstance(node, exp.Not) and not isinstance(node.this, exp.Is)


def _count(nodes: Iterable[exp.Expr], *kinds: type) -> int:
    return sum(isinstance(node, kinds) for node in nodes)


def _walk(roots: Iterable[exp.Expr | None]) -> Iterator[exp.Expr]:
    """All nodes, including subqueries, but not the nodes inside them."""
    for root in roots:
        if root is not None:
            yield from root.walk(prune=lambda node: isinstance(node, exp.Query))
