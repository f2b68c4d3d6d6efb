"""Keeps GROUP BY on a primary key valid where a derived table has replaced the table.

A PostgreSQL query that groups by a table's primary key may use the table's other columns outside
aggregates, since each group has one value of them. A derived table has no key, so the columns that
the query uses outside aggregates are added to the GROUP BY. The groups stay the same.

Does not cover grouping sets, whole rows, and names after USING within parentheses: there
PostgreSQL says which column must be grouped by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.helper import ensure_list

from execution.allowlists import load_function_names
from execution.name_resolution.scopes import NameResolver, Resolution, Source

Sources = Mapping[str, Source]

# No query has more outputs, and Python does not convert numbers with thousands of digits.
_POSITION = re.compile(r"[0-9]{1,9}")
# Types without equality, by which nothing can be grouped.
_UNEQUAL = re.compile(r"(json|xml|point|line|lseg|box|path|polygon|circle)\b", re.IGNORECASE)


def complete_groups(found: Resolution, resolver: NameResolver) -> None:
    """Adds the columns that depend on a primary key to each GROUP BY, in place; on PostgreSQL."""
    if resolver.dialect == "postgres":
        for select in found.groups:
            _complete(select, found, resolver)


def _complete(select: exp.Select, found: Resolution, resolver: NameResolver) -> None:
    clause, sources = select.args["group"], found.selects[id(select)]
    if clause.find(exp.Cube, exp.GroupingSets, exp.Rollup) is not None:
        return
    columns = {column for source in sources.values() for column in source.columns}
    items = [
        _find_output(item, select.expressions, columns, resolver)
        for item in _list_items(clause.expressions)
    ]
    grouped = [
        (_find_source(item, select, found, resolver), resolver.fold(item.this))
        for item in items
        if isinstance(item, exp.Column) and not item.is_star
    ]
    bare = set(_list_bare(select, sources, resolver))
    added: list[exp.Column] = []
    for name, source in sources.items():
        if source.table is None or not source.table.primary_key:
            continue
        # An alias may have renamed them.
        written = dict(zip(resolver.list_columns(source.table), source.columns, strict=True))
        named = {column for owner, column in grouped if owner is source}
        if not named.issuperset(written[key] for key in source.table.primary_key):
            continue
        equal = {column.name for column in source.table.columns if not _UNEQUAL.match(column.type)}
        used = {written[column] for column in source.used & equal}
        added += [
            exp.column(column, table=name, quoted=True)
            for column in sorted((used if None in bare else used & bare) - named)
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


# From the narrowest on.
_NUMBERS = ("", "smallint", "integer", "bigint", "numeric", "real", "double precision")


def _find_source(
    column: exp.Column, select: exp.Select, found: Resolution, resolver: NameResolver
) -> Source | None:
    """The source whose column it is, also of a name that several have after USING.

    Of them PostgreSQL keeps the left one, or the right one after RIGHT JOIN or if only the left one
    is converted; of a FULL JOIN none (``buildMergedJoinVar`` in its parse_clause.c).
    """
    if column.args.get("table") is not None:
        return found.origins.get(id(column))
    name, sources = resolver.fold(column.this), list(found.selects[id(select)].values())
    joins = select.args.get("joins") or []
    having = [source for source in sources if name in source.columns]
    if len(having) < 2 or len(joins) != len(sources) - 1:
        # Within parentheses it is not known which joins are meant.
        return having[0] if len(having) == 1 else None
    kept: Source | None = having[0]
    for join, source in zip(joins, sources[1:], strict=True):
        if source in having[1:]:
            ours, theirs = _find_width(kept, name), _find_width(source, name)
            left = None if 0 < ours < theirs else kept
            right = None if 0 < theirs < ours else source
            kept = {"LEFT": left, "RIGHT": right, "FULL": None}.get(join.side, left or right)
    return kept


def _find_width(source: Source | None, name: str) -> int:
    """A rank of the column's type among numbers; 0 if it is none, or unknown."""
    if source is None or source.table is None:
        return 0
    kind = source.table.columns[source.columns.index(name)].type
    return _NUMBERS.index(kind) if kind in _NUMBERS else 0


_AGGREGATES = load_function_names("growth")["gathering"].union(
    name.lower() for name, kind in exp.FUNCTION_BY_NAME.items() if issubclass(kind, exp.AggFunc)
)
# Where a SELECT uses the values of a group.
_AFTER_GROUPING = ("expressions", "having", "order", "distinct", "windows", "qualify")


def _list_bare(
    select: exp.Select, sources: Sources, resolver: NameResolver
) -> Iterator[str | None]:
    """The names of columns outside the aggregates of the query, also in its subqueries.

    None stands for all columns: a star, or the name of a source, which is a whole row.
    """
    args = select.args
    waiting = [node for key in _AFTER_GROUPING for node in ensure_list(args.get(key))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and node.is_star):
            yield None
        elif isinstance(node, exp.Column):
            name = resolver.fold(node.this)
            yield None if name in sources and not node.args.get("table") else name
        elif not _is_aggregate(node, select):
            waiting += node.iter_expressions()


def _is_aggregate(node: exp.Expr, select: exp.Select) -> bool:
    """Whether the node makes one value of a group of the query; a window's function does not."""
    is_call = isinstance(node, exp.Anonymous) and node.name.lower() in _AGGREGATES
    if not is_call and not isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
        return False
    around = node.parent
    while isinstance(around, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        around = around.parent
    return not isinstance(around, exp.Window) and node.parent_select is select


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
