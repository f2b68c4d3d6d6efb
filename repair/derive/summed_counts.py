"""Sums of a column that holds numbers of things, instead of counts of its rows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.catalog import Column, Table
from nl2sql.sql.column_kinds import NUMBERS, find_kind
from nl2sql.sql.nodes import find_all
from nl2sql.words import split_words
from repair.derive.original import Original

# Words of names that say no more than that the column holds a number.
_NUMBER_WORDS = frozenset("number num no of total amount count".split())
_KEY_WORDS = frozenset({"id", "code", "key", "year"})
# With so many common letters, "enrolled" and "Enrollment" count as one word.
_STEM = 5


def summed_counts(original: Original) -> Iterator[exp.Expr]:
    """``count(*)`` becomes ``sum(enrollment)`` for "the total number of students enrolled".

    Also ``sum(num_of_shops)``: all words of the column's name must be in the question.
    """
    stems = {word[:_STEM] for word in original.words}
    for level in original.levels:
        for count in find_all(level.select, exp.Count):
            if count.find_ancestor(exp.Select) is not level.select:
                continue
            for source, table in level.list_tables():
                for column in table.columns:
                    if _is_figure(column, table, original, stems):
                        draft = original.draft()
                        name = original.visible.fold(column.name)
                        figure = exp.Sum(this=original.build_column(source, name))
                        draft.of(count).replace(figure)
                        yield draft.tree


def _is_figure(column: Column, table: Table, original: Original, stems: set[str]) -> bool:
    """True for a number, but no key, that the question names."""
    words = split_words(column.name)
    if not words or words[-1] in _KEY_WORDS or column.name in table.primary_key:
        return False
    if find_kind(column.type, original.visible.dialect) not in NUMBERS:
        return False
    rest = [word for word in words if word not in _NUMBER_WORDS]
    return bool(rest) and all(word[:_STEM] in stems for word in rest)
