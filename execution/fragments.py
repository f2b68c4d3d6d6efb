"""Quotes a piece of a query for a refusal."""

from __future__ import annotations

from sqlglot import exp

from execution.postgres.dialect import GuardedPostgres

_LONGEST = 80


def quote_fragment(node: exp.Expr) -> str:
    """The beginning of the node's text, in PostgreSQL's dialect, which can render every node.

    >>> quote_fragment(exp.column("id", table="orders"))
    'orders.id'
    """
    return node.sql(GuardedPostgres)[:_LONGEST]
