"""A piece of a query as a refusal quotes it."""

from __future__ import annotations

from sqlglot import exp

from execution.postgres.dialect import GuardedPostgres

_LONGEST = 80


def quote_fragment(node: exp.Expr) -> str:
    """The beginning of the node's text: in PostgreSQL's words, which can write every node.

    >>> quote_fragment(exp.column("id", table="orders"))
    'orders.id'
    """
    return node.sql(GuardedPostgres)[:_LONGEST]
