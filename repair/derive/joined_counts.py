"""Groups whose rows are counted in the wrong table."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.joining import add_join
from repair.autocorrect.levels import read_levels
from repair.derive.original import Original, name_head


def joined_counts(original: Original) -> Iterator[exp.Expr]:
    """``SELECT name, count(*) FROM club GROUP BY name`` joins ``coach``, if the question names it.

    The table must be one key away and not be used anywhere in the query.
    """
    used = {table.qualified for level in original.levels for _, table in level.list_tables()}
    for number, level in enumerate(original.levels):
        select = level.select
        if select.args.get("group") is None or not any(_list_counts(select)):
            continue
        for own, (_, table) in enumerate(level.list_tables()):
            for neighbour in original.visible.list_neighbours(table):
                other = neighbour.table
                if other.qualified in used or name_head(other) not in original.words:
                    continue
                draft = original.draft()
                copy = read_levels(draft.tree, original.visible)[number]
                if add_join(copy, copy.list_tables()[own][0], neighbour) is None:
                    continue
                for count in _list_counts(copy.select):
                    count.replace(exp.Count(this=exp.Star()))
                yield draft.tree


def _list_counts(select: exp.Select) -> list[exp.Count]:
    """The counts of the SELECT, without those of its subqueries."""
    return [
        count for count in find_all(select, exp.Count) if count.find_ancestor(exp.Select) is select
    ]
