"""The row with the highest value, instead of the group with the highest figure."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.column_kinds import NUMBERS, find_kind
from nl2sql.words import split_words
from repair.autocorrect.levels import Level
from repair.derive.dropped_joins import drop_joins
from repair.derive.original import Original, has_aggregate

_FIGURES = frozenset("number num no total count amount of".split())


def plain_extremes(original: Original) -> Iterator[exp.Expr]:
    """``GROUP BY name ORDER BY sum(score)`` becomes ``ORDER BY score``.

    ``ORDER BY count(*)`` becomes the order by a column that is named like a number of what the
    question asks for, such as ``num_of_shops``.
    """
    for level in original.levels:
        select = level.select
        group, order = select.args.get("group"), select.args.get("order")
        if group is None or order is None:
            continue
        by = order.expressions[0].this
        if isinstance(by, exp.Count):
            found = list(_find_figures(original, level))
        elif isinstance(by, exp.AggFunc) and isinstance(by.this, exp.Column):
            found = [by.this]
        else:
            continue
        for column in found:
            draft = original.draft()
            copy = draft.of(select)
            draft.of(by).replace(column.copy())
            copy.set("group", None)
            copy.set("having", None)
            kept = [output for output in copy.expressions if not has_aggregate(output)]
            if kept:
                copy.set("expressions", kept)
                yield drop_joins(Original(draft.tree, original.visible, original.question))


def _find_figures(original: Original, level: Level) -> Iterator[exp.Column]:
    for source, table in level.list_tables():
        for column in table.columns:
            words = set(split_words(column.name))
            is_number = find_kind(column.type, original.visible.dialect) in NUMBERS
            if is_number and words & _FIGURES and words - _FIGURES <= original.words:
                yield original.build_column(source, original.visible.fold(column.name))
