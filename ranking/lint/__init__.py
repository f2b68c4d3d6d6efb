"""Lint rules: one a file, the function named like the file, the pipeline a visible tuple.

A rule takes a parsed query and returns a finding, or None. An error is almost always wrong, a
warning often.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.types import Finding
from ranking.lint.cartesian_join import cartesian_join
from ranking.lint.limit_without_order import limit_without_order
from ranking.lint.null_comparison import null_comparison
from ranking.lint.select_star import select_star

RULES: tuple[Callable[[exp.Expr], Finding | None], ...] = (
    cartesian_join,
    null_comparison,
    limit_without_order,
    select_star,
)


def lint_query(sql: str, dialect: str) -> tuple[Finding, ...]:
    """All findings, errors first as the rules stand; none for what does not parse."""
    try:
        tree = sqlglot.parse_one(sql, dialect=dialect)
    except (SqlglotError, RecursionError):
        return ()
    return tuple(finding for rule in RULES if (finding := rule(tree)) is not None)
