"""Column names with abbreviated or misspelled words."""

from __future__ import annotations

from itertools import takewhile

from sqlglot import exp

from nl2sql.words import split_words
from repair.autocorrect.levels import list_faults, read_levels
from repair.autocorrect.table_lookup import TableLookup

_SHORTEST = 3
# With so many common letters, "eliminated" and "elimination" count as one word.
_STEM = 6


def misspelled_columns(tree: exp.Expr, visible: TableLookup) -> bool:
    """Makes ``org_id`` ``organisation_id``, if no other column of the visible tables is like it.

    Both have as many words. The rules that follow find the table, and join it.
    """
    changed = False
    names = {
        folded: stored
        for table in visible.tables
        for folded, stored in visible.list_columns(table).items()
    }
    for level in read_levels(tree, visible):
        for column, name in list_faults(level, "owner", "column", "qualifier"):
            if name in names:
                continue
            found = [stored for stored in names.values() if are_alike(column.name, stored)]
            if len(found) == 1:
                column.set("this", visible.build_identifier(found[0]))
                changed = True
    return changed


def are_alike(invented: str, real: str) -> bool:
    """True if each word of one name abbreviates or misspells that of the other.

    >>> are_alike("org_id", "organisation_id"), are_alike("org_name", "organisation_id")
    (True, False)
    >>> are_alike("organization", "organisation"), are_alike("eliminated_move", "elimination_move")
    (True, True)
    """
    left, right = split_words(invented), split_words(real)
    return len(left) == len(right) and all(map(_are_one_word, left, right))


def _are_one_word(left: str, right: str) -> bool:
    common = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )
    is_abbreviation = common >= _SHORTEST and common in (len(left), len(right))
    return left == right or is_abbreviation or common >= _STEM
