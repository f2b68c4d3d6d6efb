"""Ranks the tables of a search space by several rankings, their fusion and the modules.

Rankings by cosine, by BM25, by the columns nearest to the question, by cell values, by the tables
that the question names and by those that its business terms mean are fused by reciprocal rank,
which selects the tables. With the module router on, these are then sorted by a weighted sum in
which a table's module counts too: a question is usually about one part of a database, and if thirty
schemas have a table ``customers``, its name says little. At last a walk over the foreign keys moves
tables up that are near to the best ones, and adds those that no ranking found.

How the weights were chosen, and on which questions: docs/lab/retrieval.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nl2sql.settings import FlagSettings
from nl2sql.types import ModuleRoute, ValueMatch
from retrieval.search.keys import add_key_walk
from retrieval.search.keywords import Keywords, fuse_rankings, rank_scores
from retrieval.search.modules import RELATED_WEIGHT
from retrieval.search.space import SearchSpace
from retrieval.vocabulary.terms import BusinessTerm

# Weights of rankings in the fusion; those by cosine and BM25 have 1.
_COLUMNS_WEIGHT = 0.25
_VALUES_WEIGHT = 0.5
_NAMES_WEIGHT = 0.5
# Weights in the sum; a table's cosine has 1. All terms are between 0 and 1.
_WORDS = 0.3
_MODULE_WORDS = 0.1
_MODULE_NEAREST = 0.3
_VALUES = 0.3
_NAMED = 0.3
_MEANT = 0.3
# The most that the walk over the keys adds, as a share of the best table's weight.
_WALK = 1.2

Nearest = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class TableRanking:
    """Tables, best first, with their ranks (from 1) in the single rankings.

    ``scores`` are those of the fusion; they and ``cosines`` lack tables that only keys reach.
    """

    route: ModuleRoute
    order: tuple[int, ...]
    scores: Mapping[int, float]
    cosine_ranks: Mapping[int, int]
    keyword_ranks: Mapping[int, int]
    cosines: Mapping[int, float]
    columns: Mapping[int, tuple[str, ...]]


def rank_tables(
    space: SearchSpace,
    vector: NDArray[np.float32],
    words: Keywords,
    *,
    terms: Sequence[BusinessTerm] | None,
    nearest_tables: Nearest,
    nearest_columns: Nearest,
    values: Sequence[ValueMatch],
    flags: FlagSettings,
    depth: int,
    added: int,
) -> TableRanking:
    """Ranks all tables that are among the first ``depth`` of any ranking, and those near to them.

    ``terms`` are those of the question; with None, it does not count either that it names a table.
    At most ``added`` tables come by foreign keys alone; 0 also switches the walk over the keys off.
    ``nearest_tables`` and ``nearest_columns`` are pairs of a card's position in the index and a
    cosine; both are empty if ranking by cosine is off.
    """
    by_cosine = _rank_by_cosine(space, vector, nearest_tables, depth) if flags.cosine else []
    own_scores = space.keywords.score(words.own if flags.bm25 else ())
    scores = own_scores + RELATED_WEIGHT * space.keywords.score(words.related if flags.bm25 else ())
    by_words = rank_scores(scores, depth)
    columns, by_columns = _rank_by_columns(space, nearest_columns, depth)
    grounded = _weigh_values(space, values)
    named = space.names.find_named(words) if terms is not None else {}
    meant = space.names.find_meant(terms or ())
    fused = fuse_rankings(
        [
            (1.0, by_cosine),
            (1.0, by_words),
            (_COLUMNS_WEIGHT, by_columns),
            (_VALUES_WEIGHT, _sort(grounded)[:depth]),
            (_NAMES_WEIGHT, _sort(named)[:depth]),
            (_NAMES_WEIGHT, _sort(meant)[:depth]),
        ]
    )
    cosines = space.cosines(list(fused), vector) if flags.cosine else {}
    route, weights = ModuleRoute(), fused
    if flags.module_router:
        shares = space.router.weigh(words if flags.bm25 else Keywords((), ()), cosines)
        route, (said, nearest) = space.router.route(*shares), shares
        best = float(scores.max(initial=0.0)) or 1.0
        module_of = space.router.module_of
        weights = {
            table: cosines.get(table, 0.0)
            + _WORDS * float(scores[table]) / best
            + _MODULE_WORDS * float(said[module_of[table]])
            + _MODULE_NEAREST * float(nearest[module_of[table]])
            + _VALUES * grounded.get(table, 0.0)
            + _NAMED * named.get(table, 0.0)
            + _MEANT * meant.get(table, 0.0)
            for table in fused
        }
    order = _sort(weights)
    if added:
        reached = _sort(add_key_walk(weights, space.neighbours, _WALK))
        new = [table for table in reached if table not in weights][:added]
        order = [table for table in reached if table in weights or table in new]
    return TableRanking(
        route=route,
        order=tuple(order),
        scores=fused,
        cosine_ranks={table: rank for rank, table in enumerate(by_cosine, start=1)},
        # Related words do not count: the intent gate needs to know whether a word was found.
        keyword_ranks={
            table: rank for rank, table in enumerate(by_words, start=1) if own_scores[table] > 0
        },
        cosines=cosines,
        columns=columns,
    )


def _sort(weights: Mapping[int, float]) -> list[int]:
    """The tables, heaviest first."""
    return sorted(weights, key=lambda table: -weights[table])


def _rank_by_cosine(
    space: SearchSpace, vector: NDArray[np.float32], nearest: Nearest, depth: int
) -> list[int]:
    cosines = {int(space.tables_at[at]): cosine for at, cosine in nearest}
    cosines |= space.cosines(list(space.own), vector)
    return sorted(cosines, key=lambda table: -cosines[table])[:depth]


def _rank_by_columns(
    space: SearchSpace, nearest: Nearest, depth: int
) -> tuple[dict[int, tuple[str, ...]], list[int]]:
    """Table → its columns among the nearest, best first; and the ranked tables.

    A column counts less the more tables have it.
    """
    columns: dict[int, tuple[str, ...]] = {}
    weight: dict[int, float] = {}
    for at, cosine in nearest:
        bearers = space.columns_at(at)
        for table, names in bearers.items():
            columns[table] = (*columns.get(table, ()), *names)
            weight[table] = max(weight.get(table, 0.0), cosine / np.sqrt(len(bearers)))
    return columns, sorted(weight, key=lambda table: -weight[table])[:depth]


def _weigh_values(space: SearchSpace, values: Sequence[ValueMatch]) -> dict[int, float]:
    """Table → the weight of its values, at most 1; a value counts less the more tables have it."""
    bearers: dict[str, set[str]] = {}
    for match in values:
        bearers.setdefault(match.phrase, set()).add(match.table)
    found: dict[int, float] = {}
    for match in values:
        number = space.numbers.get(match.table)
        if number is not None:
            weight = match.score / float(np.sqrt(len(bearers[match.phrase])))
            found[number] = max(found.get(number, 0.0), weight)
    return found
