"""Stars with exceptions: which columns ``* EXCLUDE (a)`` and ``* REPLACE (f(b) AS b)`` give.

Only DuckDB has them. What they name must be columns that the star has, so that what it gives is
known by name and order. Does not cover columns told by source (``EXCLUDE (t.a)``), ``RENAME``, and
``REPLACE`` of a name that two columns bear, of which DuckDB drops one.
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
    """The star that an output is, alone or behind a source's name."""
    star = output.this if isinstance(output, exp.Column) else output
    return star if isinstance(star, exp.Star) else None


def list_replacements(star: exp.Star) -> list[exp.Alias]:
    """What stands behind REPLACE, each under the name of its column. Raises Unresolved."""
    replaced = star.args.get("replace") or []
    for each in replaced:
        if not (isinstance(each, exp.Alias) and isinstance(each.args["alias"], exp.Identifier)):
            raise Unresolved("node_not_allowed", quote_fragment(each), "REPLACE takes x AS name.")
    return list(replaced)


def list_excluded(star: exp.Star) -> list[exp.Column]:
    """The columns behind EXCLUDE. Raises Unresolved for anything but plain names."""
    excluded = star.args.get("except_") or []
    for each in excluded:
        is_name = isinstance(each, exp.Column) and isinstance(each.this, exp.Identifier)
        if not is_name or each.args.get("table"):
            raise Unresolved("node_not_allowed", quote_fragment(each), "EXCLUDE takes names.")
    return list(excluded)


def apply_exceptions(
    columns: tuple[str, ...], star: exp.Star, sources: Sequence[Source], resolver: NameResolver
) -> tuple[str, ...]:
    """What is left of ``columns``, the folded names of all that the star stands for.

    ``sources`` are those whose columns these are. Raises Unresolved.
    """
    if not any(star.args.values()):
        return columns
    if resolver.dialect != "duckdb" or star.args.get("rename"):
        raise Unresolved("node_not_allowed", quote_fragment(star), "A star with exceptions.")
    excluded = {resolver.fold(each.this): each for each in list_excluded(star)}
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
    """What to raise for a name that the star does not have: whether a table has it, hidden."""
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
