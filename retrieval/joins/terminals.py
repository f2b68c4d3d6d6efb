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
    links: Sequence[SchemaLink], graph: JoinGraph, named: Sequence[ForeignKey] = ()
) -> tuple[str, ...]:
    """At most five tables that can be joined, best first.

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
    for component in graph.components():
        chosen: list[str] = []
        explained: set[str] = set()
        for table in likely:
            if table in component and words[table] - explained:
                chosen.append(table)
                explained |= words[table]
        if chosen:
            worth = sum(weights[table] for table in chosen)
            best = max(best, ((len(explained), worth, -likely.index(chosen[0])), chosen))
    return tuple(best[1][:_MOST_TERMINALS])
