"""The label of a table's rows: the column by which a person knows them."""

from __future__ import annotations

from nl2sql.catalog import Table
from nl2sql.words import split_words

_LABELS = frozenset({"name", "title"})


def find_label(table: Table) -> str | None:
    """The column ``name`` or ``title``, also after the table's words, or one called like the table.

    >>> from nl2sql.catalog import Column
    >>> find_label(Table("hr", "departments", (Column("id", "int"), Column("dept_name", "text"))))
    >>> find_label(Table("hr", "genre", (Column("id", "int"), Column("genre_name", "text"))))
    'genre_name'
    """
    own = set(split_words(table.name))
    for column in table.columns:
        words = split_words(column.name)
        if words and (set(words) == own or (words[-1] in _LABELS and set(words[:-1]) <= own)):
            return column.name
    return None
