"""Tables that are joined and, but for the columns they are joined by, not used."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from repair.autocorrect.levels import Level, Source
from repair.derive.joins import find_join, find_node, list_pairs
from repair.derive.original import Original


def dropped_joins(original: Original) -> Iterator[exp.Expr]:
    """Takes ``visit`` out of ``SELECT v.name FROM visitor v JOIN visit s ON s.v_id = v.id``.

    A key of the table is replaced by the column that it equals. What then is not used either is
    left out in a further query.
    """
    found = list(_drop_one(original))
    while found:
        yield from found
        # All orders end with the same query.
        found = list(_drop_one(Original(found[0], original.visible, original.question)))


def drop_joins(original: Original) -> exp.Expr:
    """The query without any table that is not used."""
    while (changed := next(_drop_one(original), None)) is not None:
        original = Original(changed, original.visible, original.question)
    return original.tree


def list_with_fewer_joins(original: Original) -> Iterator[Original]:
    """The query, and where a table is not used, the one without any such table."""
    yield original
    fewer = drop_joins(original)
    if fewer is not original.tree:
        yield Original(fewer, original.visible, original.question)


def _drop_one(original: Original) -> Iterator[exp.Expr]:
    for level in original.levels:
        if level.select.args.get("joins"):
            for source in level.sources.values():
                if (changed := _drop(original, level, source)) is not None:
                    yield changed


def _drop(original: Original, level: Level, source: Source) -> exp.Expr | None:
    select = level.select
    node = find_node(select, source)
    joins = select.args["joins"]
    inside = {
        number: [
            column for column in original.uses[id(source)] if find_join(column, select) is join
        ]
        for number, join in enumerate(joins)
    }
    mentioned = [number for number, columns in inside.items() if columns]
    if node is None or len(mentioned) != 1:
        return None
    number = mentioned[0]
    is_first = node.arg_key == "this" and isinstance(node.parent, exp.From)
    if is_first and number != 0:
        return None
    if not is_first and node.parent is not joins[number]:
        return None
    equal = list_pairs(original, level, joins[number], source)
    others = [column for column in original.uses[id(source)] if find_join(column, select) is None]
    spelled = [(column, original.visible.spell(column.this)) for column in others]
    if any(name not in equal for _, name in spelled):
        return None
    draft = original.draft()
    for column, name in spelled:
        draft.of(column).replace(equal[name].copy())
    copy = draft.of(select)
    if is_first:
        copy.args["from_"].set("this", draft.of(joins[0]).this)
    copy.args["joins"].pop(number)
    return draft.tree
