"""Adds tables that foreign keys connect with those that search found.

A bridge table often has no word in common with the question. First come tables that connect two
found tables, then pairs of tables that connect two found ones, then neighbours of the best-ranked.
Tables are numbers here: positions in the visible catalog.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import combinations

Neighbours = Mapping[int, Set[int]]

# A table with more neighbours (users, currencies) is a hub: a reference to it means little, and
# visiting all its neighbours would take long.
_HUB = 64
# The number of best found tables between which pairs are searched.
_MOST_ENDS = 5


def expand_by_foreign_keys(found: Sequence[int], neighbours: Neighbours, limit: int) -> list[int]:
    """At most ``limit`` tables in addition to ``found``, which is sorted by rank.

    >>> expand_by_foreign_keys([1, 3], {1: {2}, 2: {1, 3}, 3: {2, 4}, 4: {3}}, 2)
    [2, 4]
    """
    if limit <= 0:
        return []
    rank = {table: position for position, table in enumerate(found)}
    touched: dict[int, set[int]] = {}
    for table in found:
        near = neighbours.get(table, frozenset())
        if len(near) <= _HUB:
            for other in near:
                if other not in rank:
                    touched.setdefault(other, set()).add(table)
    for other, ends in touched.items():
        # A hub counts as an end if another found table is a neighbour too.
        ends |= neighbours[other] & rank.keys() if len(neighbours[other]) <= _HUB else set()
    order = sorted(
        touched, key=lambda name: (-len(touched[name]), min(rank[t] for t in touched[name]), name)
    )
    bridges = [table for table in order if len(touched[table]) > 1]
    chosen = bridges[:limit]
    for pair in _find_pairs(found, neighbours, touched, bridges):
        fresh = [table for table in pair if table not in chosen]
        if len(chosen) + len(fresh) <= limit:
            chosen += fresh
    chosen += [table for table in order if table not in chosen]
    return chosen[:limit]


def _find_pairs(
    found: Sequence[int],
    neighbours: Neighbours,
    touched: Mapping[int, Set[int]],
    bridges: Sequence[int],
) -> list[tuple[int, int]]:
    """Pairs of tables that connect two of the best found tables that no single table connects."""
    pairs = []
    for left, right in combinations(found[:_MOST_ENDS], 2):
        if right in neighbours.get(left, ()) or any(
            {left, right} <= touched[bridge] for bridge in bridges
        ):
            continue
        starts = sorted(table for table, ends in touched.items() if left in ends)
        ends = {table for table, ends in touched.items() if right in ends}
        pair = next(
            (
                (near, far)
                for near in starts
                if len(neighbours[near]) <= _HUB
                for far in sorted(neighbours[near] & ends)
            ),
            None,
        )
        if pair is not None:
            pairs.append(pair)
    return pairs
