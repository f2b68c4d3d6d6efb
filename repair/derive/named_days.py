"""Days that the question names, in the place of others of the same table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from sqlglot import exp

from nl2sql.catalog import Column, Table
from nl2sql.sql.column_kinds import NUMBERS, find_kind
from nl2sql.words import split_words
from repair.autocorrect.names import build_date_part
from repair.derive.original import Original

_DAYS = frozenset({"date", "timestamp"})
_SAID = frozenset({"date", "day", "time", "year"})
# Words of names that say nothing, or that questions say of other things.
_PLAIN = frozenset(
    """a at by current date datetime day dt first from in last month next of on the time
    timestamp to ts until update updated utc year""".split()
)
_ENDINGS = r"(?:e|s|es|\w?ed|\w?ing)?"
# With so many common letters, "settlement" may be said for ``settled``.
_STEM = 4


def named_days(original: Original) -> Iterator[exp.Expr]:
    """``release_year = 2020``, for "added in 2020", becomes that of the year of ``date_added``.

    Of the days of a table the question means the one that it names. The words of the table's own
    name tell nothing: "orders shipped in May" names no ``order_date``.
    """
    draft, is_changed = original.draft(), False
    dialect = original.visible.dialect
    for scope in original.scopes:
        for source, table in scope.list_tables():
            uses = original.uses.get(id(source), [])
            used = [original.find_column(use, scope) for use in uses]
            for use, own in zip(uses, used, strict=True):
                meant = _find_meant(original, table, own) if own is not None else None
                if own is None or meant is None or meant in used:
                    continue
                day = original.build_column(source, original.visible.fold(meant.name))
                is_year = find_kind(own.type, dialect) in NUMBERS
                draft.of(use).replace(build_date_part(day, "year", dialect) if is_year else day)
                is_changed = True
    if is_changed:
        yield draft.tree


def _find_meant(original: Original, table: Table, own: Column) -> Column | None:
    """The only other day that the question names, where it does not name this day or year."""
    plain = _PLAIN.union(split_words(table.name))
    kinds = {it.name: find_kind(it.type, original.visible.dialect) for it in table.columns}
    is_year = kinds[own.name] in NUMBERS and "year" in split_words(own.name)
    if not (is_year or kinds[own.name] in _DAYS) or _is_said(original, own, plain, stem=_STEM):
        return None
    # "Order date" names it, whatever the table is called.
    words, said = set(split_words(own.name)) - _PLAIN, split_words(original.question)
    if any(one in words and other in _SAID for one, other in pairwise(said)):
        return None
    days = [it for it in table.columns if kinds[it.name] in _DAYS]
    named = [it for it in days if _is_said(original, it, plain)]
    return named[0] if len(named) == 1 else None


def _is_said(original: Original, day: Column, plain: frozenset[str], *, stem: int = 99) -> bool:
    """Whether the question has a word of the name in any form: "shipping" for ``shipped_on``.

    Or so many of its first letters. Not as the first word: "Return the names …".
    """
    return any(
        re.fullmatch(re.escape(one.removesuffix("e")) + _ENDINGS, other) is not None
        or (len(one) >= stem and one[:stem] == other[:stem])
        for said in split_words(original.question)[1:]
        for word in set(split_words(day.name)) - plain
        for one, other in ((word, said), (said, word))
    )
