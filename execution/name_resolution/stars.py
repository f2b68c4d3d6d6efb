"""Stars with exceptions: the columns of ``* EXCLUDE (a)`` and ``* REPLACE (f(b) AS b)``.

Only DuckDB has them. The columns that they name must be among the star's, so that the result's
names and order are known. Does not cover qualified columns (``EXCLUDE (t.a)``), ``RENAME``, and
``REPLACE`` of a name that two columns have, of which DuckDB drops one.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from execution.fragments import quote_fragment
from execution.name_resolution.resolver import NameResolver
from execution.name_resolution.scopes import Source, Unresolved
from nl2sql.catalog import Table
from nl2sql.types import NOT_PERMITTED


def find_star(output: exp.Expr) -> exp.Star | None:
    """The star of an output ``*`` or ``t.*``; None for other outputs."""
    star = output.this if isinstance(output, exp.Column) else output
    return star if isinstance(star, exp.Star) else None


def list_replacements(star: exp.Star) -> list[exp.Alias]:
    """The expressions after REPLACE, aliased with their columns' names. Raises Unresolved."""
    replaced = star.args.get("replace") or []
    for item in replaced:
        if not (isinstance(item, exp.Alias) and isinstance(item.args["alias"], exp.Identifier)):
            raise Unresolved("node_not_allowed", quote_fragment(item), "REPLACE takes x AS name.")
    return list(replaced)


def list_excluded(star: exp.Star) -> list[exp.Column]:
    """The columns after EXCLUDE. Raises Unresolved for anything but plain names."""
    excluded = star.args.get("except_") or []
    for item in excluded:
        is_name = isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier)
        if not is_name or item.args.get("table"):
            raise Unresolved("node_not_allowed", quote_fragment(item), "EXCLUDE takes names.")
    return list(excluded)


def apply_exceptions(
    columns: tuple[str, ...], star: exp.Star, sources: Sequence[Source], resolver: NameResolver
) -> tuple[str, ...]:
    """The columns that the star returns, of ``columns``, the folded names of all that it covers.

    ``sources`` are the sources of these columns. Raises Unresolved.
    """
    if not any(star.args.values()):
        return columns
    if resolver.dialect != "duckdb" or star.args.get("rename"):
        raise Unresolved("node_not_allowed", quote_fragment(star), "A star with exceptions.")
    excluded = {resolver.fold(column.this): column for column in list_excluded(star)}
    replaced = {
        resolver.fold(replacement.args["alias"]): replacement
        for replacement in list_replacements(star)
    }
    for name, node in (excluded | replaced).items():
        if name not in columns:
            raise _refuse(name, node, sources, resolver)
    for name, node in replaced.items():
        if columns.count(name) > 1:
            raise Unresolved(
                "node_not_allowed", quote_fragment(node), f"There are two columns {name} here."
            )
    return tuple(name for name in columns if name not in excluded)


def _refuse(
    name: str, node: exp.Expr, sources: Sequence[Source], resolver: NameResolver
) -> Unresolved:
    """The error for a name that the star does not have; it says if the column is hidden."""
    written = node.args["alias"] if isinstance(node, exp.Alias) else node
    refusal = resolver.refuse_column(None, name, quote_fragment(written))
    for table in _list_tables(sources):
        refusal = resolver.refuse_column(table, name, quote_fragment(written))
        if refusal.violation.code == NOT_PERMITTED:
            break
    return refusal


def _list_tables(sources: Sequence[Source]) -> list[Table]:
    tables: list[Table] = []
    for source in sources:
        if isinstance(source.origin, tuple):
            tables += _list_tables(source.origin)
        elif source.table is not None:
            tables.append(source.table)
    return tables
