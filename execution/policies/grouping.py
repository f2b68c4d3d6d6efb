"""Keeps GROUP BY on a primary key valid where a derived table has replaced the table.

A PostgreSQL query that groups by a table's primary key may use the table's other columns outside
aggregates, since each group has one value of them. A derived table has no key, so the columns that
the query uses are added to the GROUP BY, wherever it uses them. The groups stay the same.

Does not cover grouping sets, renamed columns and whole rows: there PostgreSQL says which column
must be grouped by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from execution.name_resolution.scopes import Group, NameResolver

# No query has more outputs, and Python does not convert numbers with thousands of digits.
_POSITION = re.compile(r"[0-9]{1,9}")
# Types without equality, by which nothing can be grouped.
_UNEQUAL = re.compile(r"(json|xml|point|line|lseg|box|path|polygon|circle)\b", re.IGNORECASE)


def complete_group(group: Group, resolver: NameResolver) -> None:
    """Adds the columns that depend on a primary key to the GROUP BY, in place."""
    clause = group.select.args["group"]
    if clause.find(exp.Cube, exp.GroupingSets, exp.Rollup) is not None:
        return
    columns = {column for source in group.sources.values() for column in source.columns}
    items = [
        _find_output(item, group.select.expressions, columns, resolver)
        for item in _list_items(clause.expressions)
    ]
    added: list[exp.Column] = []
    for name, source in group.sources.items():
        table = source.table
        named = _list_named(items, name, resolver)
        if (
            table is None
            or source.renamed
            or not table.primary_key
            or not named.issuperset(table.primary_key)
        ):
            continue
        equal = {column.name for column in table.columns if not _UNEQUAL.match(column.type)}
        added += [
            exp.column(column, table=name, quoted=True)
            for column in sorted(equal & source.used - named)
        ]
    for column in added:
        clause.append("expressions", column)


def _list_items(nodes: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """The items of a GROUP BY, without parentheses around them."""
    for node in nodes:
        if isinstance(node, exp.Paren | exp.Tuple):
            yield from _list_items(list(node.iter_expressions()))
        else:
            yield node


def _list_named(items: Sequence[exp.Expr], source: str, resolver: NameResolver) -> set[str]:
    """The names of the columns among ``items`` that may belong to the source."""
    return {
        resolver.fold(item.this)
        for item in items
        if isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier)
        if not (table := item.args.get("table")) or resolver.fold(table) == source
    }


def _find_output(
    node: exp.Expr, outputs: Sequence[exp.Expr], columns: set[str], resolver: NameResolver
) -> exp.Expr:
    """The output that a position (GROUP BY 2) or an output's name refers to, or the node itself."""
    if isinstance(node, exp.Literal) and not node.is_string and _POSITION.fullmatch(node.name):
        at = int(node.name) - 1
        return outputs[at].unalias() if 0 <= at < len(outputs) else node
    if isinstance(node, exp.Column) and not node.args.get("table"):
        name = resolver.fold(node.this)
        for output in outputs if name not in columns else ():
            if isinstance(output, exp.Alias) and resolver.fold(output.args["alias"]) == name:
                return output.unalias()
    return node
