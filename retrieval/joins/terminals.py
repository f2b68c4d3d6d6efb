"""Chooses the tables that the joins must connect: those that the question's words refer to."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.catalog import ForeignKey
from nl2sql.types import SchemaLink
from retrieval.joins.graph import JoinGraph

# With more terminals the plan would be most of the schema, and no help.
_MOST_TERMINALS = 5
_LEAST_WEIGHT = 0.4
# A link to a column counts half for its table, except one by a value.
_COLUMN_SHARE = 0.5


def choose_terminals(
    links: Sequence[SchemaLink],
    graph: JoinGraph,
    named: Sequence[ForeignKey] = (),
    required: Sequence[str] = (),
) -> tuple[str, ...]:
    """At most five tables that can be joined, best first, and all ``required`` ones before them.

    A table is chosen if it explains a word of the question that no better one explains, in the
    connected component that explains most words. Two kinds of links do not count for their table:
    those to a foreign key's column, unless the question names its role, and those to a date column
    by its type only.
    """
    references = {
        (key.table, column) for key in graph.keys if key not in named for column in key.columns
    }
    weights: dict[str, float] = {}
    words: dict[str, set[str]] = {}
    for link in links:
        if (link.table, link.column) in references or link.method == "type":
            continue
        share = _COLUMN_SHARE if link.column and link.method not in ("value", "model") else 1.0
        weights[link.table] = weights.get(link.table, 0.0) + link.score * share
        explained_by = words.setdefault(link.table, set())
        explained_by.update(link.phrase.lower().split())
        if link.method in ("model", "definition"):
            # It is needed, so it counts even if another table explains the same word.
            explained_by.add(link.table)
    likely = sorted(
        (table for table in weights if weights[table] >= _LEAST_WEIGHT),
        key=lambda table: -round(weights[table], 3),
    )
    best: tuple[tuple[int, float, int], list[str]] = ((0, 0.0, 0), [])
    components = graph.components()
    # If no joins connect the required tables, they are planned as if none were required.
    around = [component for component in components if required and component.issuperset(required)]
    if not around:
        required = ()
    for component in around or components:
        chosen: list[str] = list(required)
        explained: set[str] = set().union(*(words.get(table, ()) for table in required))
        for table in likely:
            if table in component and words[table] - explained and table not in chosen:
                chosen.append(table)
                explained |= words[table]
        if chosen:
            worth = sum(weights.get(table, 0.0) for table in chosen)
            place = likely.index(chosen[0]) if chosen[0] in likely else 0
            best = max(best, ((len(explained), worth, -place), chosen))
    return tuple(best[1][: max(_MOST_TERMINALS, len(required))])
