"""``SELECT *`` where columns were asked for."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding


def select_star(tree: exp.Expr) -> Finding | None:
    """A warning when the outermost query selects a star.

    >>> import sqlglot
    >>> select_star(sqlglot.parse_one("SELECT * FROM a")).rule
    'select_star'
    >>> select_star(sqlglot.parse_one("SELECT count(*) FROM a"))
    """
    if isinstance(tree, exp.Select) and tree.is_star:
        return Finding("select_star", "warning", "All columns are selected.")
    return None
