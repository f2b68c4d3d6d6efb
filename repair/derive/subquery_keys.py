"""Subqueries whose column is not the key that leads to the outer query."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.levels import Level, Source
from repair.derive.original import Original


def subquery_keys(original: Original) -> Iterator[exp.Expr]:
    """``member WHERE id IN (SELECT id FROM events)`` becomes ``… IN (SELECT member_id FROM …)``.

    Also a column that is not in the subquery's table and so means the outer row's own. Both columns
    become those of a key between the two tables; so does a group by the column.
    """
    levels = {id(level.select): level for level in original.levels}
    for node in find_all(original.tree, exp.In):
        query = node.args.get("query")
        inner = levels.get(id(query.unnest())) if query is not None else None
        outer = levels.get(id(node.find_ancestor(exp.Select)))
        if inner is None or outer is None or not isinstance(node.this, exp.Column):
            continue
        base = original.find_owner(node.this, outer)
        if base is not None and len(inner.select.expressions) == 1:
            yield from _lead(original, node, base, inner)


def _lead(original: Original, node: exp.In, base: Source, inner: Level) -> Iterator[exp.Expr]:
    """The query with each key between the base and a table of the subquery."""
    visible = original.visible
    output = inner.select.expressions[0].unalias()
    if base.table is None or not isinstance(output, exp.Column):
        return
    for neighbour in visible.list_neighbours(base.table):
        for source, table in inner.list_tables():
            if table is not neighbour.table or len(neighbour.pairs) != 1:
                continue
            own, other = (visible.fold(name) for name in neighbour.pairs[0])
            is_led = visible.spell(node.this.this) == own and visible.spell(output.this) == other
            if is_led and original.find_owner(output, inner) is source:
                continue
            draft = original.draft()
            draft.of(node.this).replace(original.build_column(base, own))
            group = inner.select.args.get("group")
            for by in find_all(group, exp.Column) if group is not None else ():
                if by == output:
                    draft.of(by).replace(original.build_column(source, other))
            draft.of(output).replace(original.build_column(source, other))
            yield draft.tree
