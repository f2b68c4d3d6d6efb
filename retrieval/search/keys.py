"""Follows foreign keys: ranks tables by a random walk.

A bridge table often has no word in common with the question, and neither has the table at the far
end of a path. The walk starts at the best-ranked tables, follows a key in either direction and
returns to the start with a fixed probability (personalised PageRank: Haveliwala, WWW 2002); a table
between two good ones is reached from both. The mass that goes from one table to another is divided
by the square root of both numbers of keys, so that a table to which everything refers gains little.
Only a few steps are made, so the time does not depend on the size of the database. Tables are
numbers: positions in the visible catalog.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from math import sqrt

from nl2sql.catalog import Catalog, Table

Neighbours = Mapping[int, Set[int]]

# A table with more neighbours (users, currencies) is a hub: a reference to it means little, and
# visiting all its neighbours would take long.
_HUB = 64
# The number of best tables at which the walk starts, and its steps.
_STARTS = 8
_STEPS = 3
_RETURN = 0.3


def add_key_walk(
    weights: Mapping[int, float], neighbours: Neighbours, share: float
) -> dict[int, float]:
    """The weights of tables with that of the walk added, at most ``share`` of the best weight.

    Tables that only keys reach come in addition, with the lowest weight plus that of the walk.

    >>> keys = {1: {2}, 2: {1, 3}, 3: {2, 4}, 4: {3}}
    >>> found = add_key_walk({1: 1.0, 3: 0.9, 5: 0.5, 6: 0.4}, keys, 0.5)
    >>> sorted(found, key=lambda table: -found[table])
    [1, 3, 2, 4, 5, 6]
    """
    if not weights:
        return {}
    starts = _choose_starts(weights)
    reached = dict(starts)
    for _ in range(_STEPS):
        moved: dict[int, float] = {}
        for table, mass in reached.items():
            near = neighbours.get(table, frozenset())
            if len(near) <= _HUB:
                for other in near:
                    passed = mass / sqrt(len(near) * len(neighbours[other]))
                    moved[other] = moved.get(other, 0.0) + passed
        reached = {
            table: (1 - _RETURN) * moved.get(table, 0.0) + _RETURN * starts.get(table, 0.0)
            for table in {**starts, **moved}
        }
    most, least = max(reached.values()), min(weights.values())
    scale = share * max(weights.values())
    return {
        table: weights.get(table, least) + scale * sqrt(reached.get(table, 0.0) / most)
        for table in {**weights, **reached}
    }


def _choose_starts(weights: Mapping[int, float]) -> dict[int, float]:
    """The best tables with shares that sum to 1, from how far they are above the last of them."""
    best = sorted(weights, key=lambda table: -weights[table])[:_STARTS]
    floor = weights[best[-1]] if len(best) > 1 else 0.0
    above = {table: (weights[table] - floor) ** 2 for table in best}
    total = sum(above.values())
    if not total:
        return dict.fromkeys(best, 1 / len(best))
    return {table: mass / total for table, mass in above.items()}


def find_table(catalog: Catalog, name: str) -> Table | None:
    """The table of a name as people and queries write it: with or without schema or quotes."""
    plain = name.strip().replace('"', "")
    if table := catalog.table(plain):
        return table
    schema, _, short = plain.rpartition(".")
    if found := catalog.resolve(short, schema) or catalog.resolve(short.lower(), schema.lower()):
        return found
    # A name that only one schema has, though the search path does not list it.
    same = [table for table in catalog.tables if not schema and table.name == short]
    return same[0] if len(same) == 1 else None
