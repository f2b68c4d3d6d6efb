"""Checks of single nodes: their allowed arguments, the names of their columns, stars.

Stars with exceptions, ``* EXCLUDE (a)``, are DuckDB's. The columns that they name must be among the
star's, so that the result's names and order are known. Does not cover qualified columns
(``EXCLUDE (t.a)``), ``RENAME`` and ``REPLACE``.

Each database has its own rule for the columns of a function in FROM, and an alias changes the
names. On PostgreSQL a wrong name would be dangerous: ``alias.name`` without such a column calls the
function ``name``. There the guard therefore writes the names after the alias, so that the columns
have exactly the names that this module lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from execution.name_resolution.scopes import NameResolver, Source, Unresolved, refuse_node
from nl2sql.sql.names import quote_name

# The arguments of nodes that may be set; any other is a construct that the guard does not know.
SELECT_ARGS = frozenset(
    "with_ expressions distinct from_ joins laterals where group having windows qualify order "
    "limit offset".split()
)
SET_ARGS = frozenset("with_ this expression distinct order limit offset by_name".split())
SUBQUERY_ARGS = frozenset("this alias with_ order limit offset".split())
TABLE_ARGS = frozenset("this db catalog alias ordinality".split())
JOIN_ARGS = frozenset("this on using side kind method".split())
# More columns than real queries have. Nested stars (SELECT *, *) double them at each subquery.
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
            raise refuse_node(node, f"{kind} with {key} is not allowed.")


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
        raise refuse_node(join, "Such a join is not allowed.")


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


def find_star(output: exp.Expr) -> exp.Star | None:
    """The star of an output ``*`` or ``t.*``; None for other outputs."""
    star = output.this if isinstance(output, exp.Column) else output
    return star if isinstance(star, exp.Star) else None


def list_excluded(star: exp.Star) -> list[exp.Column]:
    """The columns after EXCLUDE. Raises Unresolved for anything but plain names."""
    excluded = star.args.get("except_") or []
    for item in excluded:
        is_name = isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier)
        if not is_name or item.args.get("table"):
            raise refuse_node(item, "EXCLUDE takes names.")
    return list(excluded)


def apply_exceptions(
    columns: tuple[str, ...], star: exp.Star, sources: Sequence[Source], resolver: NameResolver
) -> tuple[str, ...]:
    """The columns that the star returns, of ``columns``, the folded names of all that it covers.

    ``sources`` are the sources of these columns. Raises Unresolved.
    """
    if not any(star.args.values()):
        return columns
    if resolver.dialect != "duckdb" or star.args.get("rename") or star.args.get("replace"):
        raise refuse_node(star, "A star with exceptions: name the columns.")
    excluded = {resolver.fold(column.this): column for column in list_excluded(star)}
    for name, node in excluded.items():
        if name not in columns:
            raise resolver.refuse_column(sources, name, node)
    return tuple(name for name in columns if name not in excluded)


_ORDINALITY = "ordinality"

# Functions whose columns have fixed names, which a table alias does not replace.
_PAIR = ("key", "value")
_JSON_PARTS = ("key", "value", "type", "atom", "id", "parent", "fullkey", "path")
_OUTPUTS: dict[str, dict[str, tuple[str, ...]]] = {
    "postgres": {
        "json_array_elements": ("value",),
        "json_array_elements_text": ("value",),
        "json_each": _PAIR,
        "json_each_text": _PAIR,
        "jsonb_array_elements": ("value",),
        "jsonb_array_elements_text": ("value",),
        "jsonb_each": _PAIR,
        "jsonb_each_text": _PAIR,
    },
    # SQLite's also have hidden columns and a rowid, which no query may name.
    "sqlite": {"json_each": _JSON_PARTS, "json_tree": _JSON_PARTS},
    "duckdb": {"json_each": _JSON_PARTS, "json_tree": _JSON_PARTS},
}


def is_function(node: exp.Expr) -> bool:
    """Whether the item of FROM is a function call."""
    return isinstance(node, exp.Unnest) or isinstance(node.this, exp.Func | exp.Unnest)


def name_function(node: exp.Expr) -> str:
    """The folded name of a function; empty for other nodes."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    if isinstance(node, exp.GenerateSeries):
        return "range" if node.args.get("is_end_exclusive") else "generate_series"
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def name_outputs(node: exp.Expr, alias: str, dialect: str) -> tuple[str, ...]:
    """The folded names of the columns of a function in FROM.

    ``alias`` is empty if it has none. ``node`` is the table, LATERAL or UNNEST.
    """
    call = node if isinstance(node, exp.Unnest) else node.this
    assert isinstance(call, exp.Expr)
    name = name_function(call)
    if (names := _OUTPUTS[dialect].get(name)) is None:
        width = len(call.expressions) if isinstance(call, exp.Unnest) else 1
        # A single column has the name of the alias.
        names = ((alias or name) if width == 1 else name,) * width
    numbered = node.args.get("ordinality") or call.args.get("offset")
    return (*names, _ORDINALITY) if numbered else names


def take_new_names(node: exp.Expr) -> Sequence[exp.Identifier]:
    """The names that an alias gives a function's columns.

    sqlglot stores the last name after UNNEST … WITH ORDINALITY apart from the others.
    """
    alias = node.args.get("alias")
    names = list(alias.columns) if isinstance(alias, exp.TableAlias) else []
    call = node.this if isinstance(node, exp.Lateral) else node
    offset = call.args.get("offset") if isinstance(call, exp.Unnest) else None
    return [*names, offset] if isinstance(offset, exp.Identifier) else names


def write_names(node: exp.Expr, alias: str, names: Sequence[str]) -> None:
    """Writes the names of all columns after the alias, in place. Raises Unresolved."""
    if len(set(names)) < len(names):
        # PostgreSQL refuses two columns with the same name.
        raise Unresolved("unexplained_column", alias, f"Give the columns of {alias} names.")
    call = node.this if isinstance(node, exp.Lateral) else node
    if isinstance(call, exp.Unnest) and call.args.get("offset"):
        call.set("offset", True)
    node.set("alias", exp.TableAlias(this=_quote(alias), columns=[_quote(name) for name in names]))


def _quote(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=quote_name(name, "postgres") != name)
