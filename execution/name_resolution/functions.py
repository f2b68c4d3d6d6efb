"""The names of the columns of a function in FROM.

Each database has its own rule, and an alias changes the names. On PostgreSQL a wrong name would be
dangerous: ``alias.name`` without such a column calls the function ``name``. There the guard
therefore writes the names after the alias, so that the columns have exactly the names that this
module lists.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from execution.name_resolution.scopes import Unresolved
from nl2sql.sql.names import quote_name

_ORDINALITY = "ordinality"

# Functions whose columns have fixed names, which a table alias does not replace.
_PAIR = ("key", "value")
_PARTS = ("key", "value", "type", "atom", "id", "parent", "fullkey", "path")
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
    "sqlite": {"json_each": _PARTS, "json_tree": _PARTS},
    "duckdb": {"json_each": _PARTS, "json_tree": _PARTS},
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
