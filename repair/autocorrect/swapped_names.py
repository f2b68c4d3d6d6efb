"""A misspelled column is replaced by the nearly equal one, never by one of another kind.

A name for a number, or an id for a name, would run and mean something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.words import split_words
from repair.autocorrect.select_scopes import SelectScope, find_clause, list_faults, point_at

# The least similarity of a typing error: below it, half of the swaps in recorded candidates were
# wrong.
_ALIKE = 0.85
# The least difference in similarity between the best and the second best.
_MARGIN = 0.1

# Kind of a column → words of names that indicate it.
_KINDS = {
    word: kind
    for kind, words in {
        "id": "id uid uuid key",
        "number": "number no nr num count qty quantity age size",
        "code": "code symbol abbreviation iso",
        "name": "name title label description desc",
        "date": "date dt day month year time at timestamp",
        "amount": "amount amt price cost total sum salary revenue fee weight",
    }.items()
    for word in words.split()
}


def swapped_names(scope: SelectScope) -> bool:
    """Replaces a column by the only joined column with a nearly equal name of the same kind."""
    visible, changed = scope.visible, False
    for column, _ in list_faults(scope, "owner", "column"):
        if find_clause(column) == "joins":
            continue
        ranked = sorted(_list_similar(column, scope), key=lambda similar: -similar[0])
        if not ranked or ranked[0][0] < _ALIKE:
            continue
        (best, table, name), *others = ranked
        if _differ_in_kind(column.name, name) or (others and others[0][0] > best - _MARGIN):
            continue
        sources = [source for source, joined in scope.list_tables() if joined is table]
        if len(sources) == 1:
            point_at(column, sources[0], visible.fold(name), visible)
            changed = True
    return changed


def _list_similar(column: exp.Column, scope: SelectScope) -> Iterator[tuple[float, Table, str]]:
    """The columns of the table that was named and its joined neighbours, or of all joined ones."""
    joined = dict.fromkeys(table for _, table in scope.list_tables())
    if (named := scope.find_named_table(column)) is not None:
        near = {neighbour.table for neighbour in scope.visible.list_neighbours(named)}
        joined = dict.fromkeys(table for table in joined if table is named or table in near)
    for table in joined:
        for real in table.columns:
            yield _measure_similarity(column.name, real.name, table.name), table, real.name


def _differ_in_kind(asked: str, real: str) -> bool:
    """True if both names indicate a kind, and the kinds differ."""
    left, right = _find_kinds(asked), _find_kinds(real)
    return bool(left and right) and not left & right


def _find_kinds(name: str) -> frozenset[str]:
    return frozenset(_KINDS[word] for word in split_words(name) if word in _KINDS)


# Cached: the samples of one question invent the same names.
@lru_cache(4096)
def _measure_similarity(asked: str, real: str, owner: str) -> float:
    """The similarity of two names, from 0 to 1; words that repeat the table's name count half."""
    left, right = "_".join(split_words(asked)), "_".join(split_words(real))
    plain = SequenceMatcher(None, left, right).ratio()
    own = set(split_words(owner))
    short = "_".join(word for word in split_words(asked) if word not in own)
    return max(plain, 0.95 * SequenceMatcher(None, short, right).ratio() if short else 0.0)
