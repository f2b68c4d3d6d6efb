"""Plans the joins between the tables that a question names."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.catalog import ForeignKey
from nl2sql.types import JoinPath, JoinPlan, SchemaContext, SchemaLink
from retrieval.joins.graph import JoinGraph
from retrieval.joins.paths import find_joins
from retrieval.joins.roles import find_named_keys
from retrieval.joins.skeleton import write_path
from retrieval.joins.terminals import choose_terminals


def plan_joins(
    question: str, context: SchemaContext, links: Sequence[SchemaLink], *, alternatives: int
) -> JoinPlan:
    """The cheapest joins between the named tables, and alternatives; empty if none is named.

    A single table needs no joins, unless the question names a role of it (the manager of an
    employee). All joins are inner joins: the schema does not show whether rows without a partner
    are wanted.
    """
    named = find_named_keys(question, context.foreign_keys, links)
    graph = JoinGraph((hit.table.qualified for hit in context.tables), context.foreign_keys, named)
    terminals = choose_terminals(links, graph, named, context.required)
    if not terminals:
        return JoinPlan()
    names = dict(zip((hit.table.qualified for hit in context.tables), context.names, strict=True))
    joins: list[frozenset[int]] = [frozenset()]
    if len(terminals) > 1:
        joins = find_joins(graph, terminals, 1 + alternatives)
    paths = []
    for positions in joins:
        keys = [graph.keys[at] for at in sorted(positions)]
        roles = _find_roles(terminals[0], keys, named)
        paths.append(write_path(terminals[0], keys, roles, names, context.dialect))
    best = paths[0]
    if len(best.tables) < 2:
        return JoinPlan(best.tables)
    return JoinPlan(best.tables, best.keys, best.skeleton, _without_repeats(paths))


def _find_roles(
    start: str, keys: Sequence[ForeignKey], named: Sequence[ForeignKey]
) -> tuple[ForeignKey, ...]:
    """The named keys that join a table once more: to itself, or parallel to a key in use."""
    tables = {start, *(table for key in keys for table in (key.table, key.target))}
    used = {(key.table, key.target) for key in keys}
    return tuple(
        key
        for key in named
        if key not in keys
        and key.table in tables
        and (key.table == key.target or (key.table, key.target) in used)
    )


def _without_repeats(paths: Sequence[JoinPath]) -> tuple[JoinPath, ...]:
    """All paths but the first, without repeated sets of keys, as two roles may be exchanged."""
    different: dict[frozenset[ForeignKey], JoinPath] = {}
    for path in paths:
        different.setdefault(frozenset(path.keys), path)
    return tuple(different.values())[1:]
