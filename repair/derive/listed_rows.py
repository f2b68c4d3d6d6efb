"""All rows of a list, of which the query returns the first."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from repair.derive.original import Original


def listed_rows(original: Original) -> Iterator[exp.Expr]:
    """Leaves ``LIMIT 1`` out where the question wants all rows, "highest first"."""
    limit = original.tree.args.get("limit")
    if original.expected.listed and isinstance(limit, exp.Limit) and limit.expression.name == "1":
        draft = original.draft()
        draft.of(original.tree).set("limit", None)
        yield draft.tree
