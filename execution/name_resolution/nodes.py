"""Checks of single nodes: their allowed arguments and the names of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from execution.fragments import quote_fragment
from execution.name_resolution.scopes import Unresolved

# The arguments of nodes that may be set; any other is a construct that the guard does not know.
SELECT_ARGS = frozenset(
    "with_ expressions distinct from_ joins laterals where group having windows qualify order "
    "limit offset".split()
)
SET_ARGS = frozenset("with_ this expression distinct order limit offset by_name".split())
SUBQUERY_ARGS = frozenset("this alias with_ order limit offset".split())
TABLE_ARGS = frozenset("this db catalog alias joins ordinality".split())
JOIN_ARGS = frozenset("this on using side kind method".split())
# More columns than real queries have. Nested stars (SELECT *, *) double them at each level.
_MOST_OUTPUTS = 2000
_MOST_JOINED = 10_000
_JOIN_KINDS = ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI")
# The ways of joining rows, besides a condition.
_JOIN_METHODS = {"duckdb": ("", "ASOF", "NATURAL", "POSITIONAL")}


def check_args(node: exp.Expr, allowed: Iterable[str]) -> None:
    """Raises Unresolved if an argument is set that is not ``allowed``."""
    for key, value in node.args.items():
        if value and key not in allowed:
            kind = type(node).__name__
            raise Unresolved(
                "node_not_allowed", quote_fragment(node), f"{kind} with {key} is not allowed."
            )


def check_star(node: exp.Star) -> None:
    """Raises Unresolved for a star that is neither an output nor the argument of ``count``."""
    parent = node.parent
    counts = isinstance(parent, exp.Count) or (
        isinstance(parent, exp.Anonymous) and str(parent.this).lower() == "count"
    )
    # The exceptions of an output were checked when the outputs were listed.
    if not isinstance(parent, exp.Select) and (any(node.args.values()) or not counts):
        raise Unresolved(
            "node_not_allowed", "*", "A star may only be a query's output: name the columns."
        )


def check_join(join: exp.Join, dialect: str) -> None:
    """Raises Unresolved for a kind of join that the guard does not know."""
    check_args(join, JOIN_ARGS)
    methods = _JOIN_METHODS.get(dialect, ("", "NATURAL"))
    if join.method not in methods or join.kind not in _JOIN_KINDS:
        raise Unresolved("node_not_allowed", quote_fragment(join), "Such a join is not allowed.")


def name_values(node: exp.Values, dialect: str) -> tuple[str, ...]:
    """The names of the columns of VALUES: DuckDB counts from 0, the others from 1."""
    width = len(node.expressions[0].expressions) if node.expressions else 0
    if dialect == "duckdb":
        return tuple(f"col{at}" for at in range(width))
    return tuple(f"column{at + 1}" for at in range(width))


def merge_columns(
    left: tuple[str, ...],
    right: tuple[str, ...],
    join: exp.Join,
    shared: Sequence[str],
    dialect: str,
) -> tuple[str, ...]:
    """The columns of two sides of a join as a star lists them: shared ones once.

    ``shared`` are the names after USING. PostgreSQL lists them first, the others leave them at
    their places in the left side. Raises Unresolved if there are too many columns.
    """
    if join.kind in ("SEMI", "ANTI"):
        return left
    if len(left) + len(right) > _MOST_JOINED:
        raise Unresolved("too_many_columns", "", f"FROM has more than {_MOST_JOINED} columns.")
    if join.method == "NATURAL":
        theirs = frozenset(right)
        shared = [name for name in left if name in theirs]
    once = frozenset(shared)
    if dialect != "postgres":
        return (*left, *(name for name in right if name not in once))
    rest = (name for name in (*left, *right) if name not in once)
    return (*shared, *rest)


def check_outputs(names: Sequence[str]) -> None:
    """Raises Unresolved if there are more outputs than a query may have."""
    if len(names) > _MOST_OUTPUTS:
        raise Unresolved(
            "too_many_columns",
            "*",
            f"A query has more than {_MOST_OUTPUTS} columns: name those that are needed.",
        )


def rename_columns(columns: tuple[str, ...], names: Sequence[str], source: str) -> tuple[str, ...]:
    """``columns`` with the first of them renamed to ``names``. Raises Unresolved."""
    if len(names) > len(columns):
        raise Unresolved("unknown_column", source, f"{source} has only {len(columns)} columns.")
    return (*names, *columns[len(names) :])
