"""Plans the joins between the tables that a question names."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.catalog import ForeignKey
from nl2sql.types import JoinPath, JoinPlan, SchemaContext, SchemaLink
from retrieval.joins.graph import JoinGraph
from retrieval.joins.paths import find_ways
from retrieval.joins.roles import find_named_keys
from retrieval.joins.skeleton import write_path
from retrieval.joins.terminals import choose_terminals


def plan_joins(
    question: str, context: SchemaContext, links: Sequence[SchemaLink], *, alternatives: int
) -> JoinPlan:
    """The cheapest way between the tables named, and the next best; empty when none is named.

    One table alone needs no joins, unless the question names a role of it: the manager of an
    employee. Every join is an inner one: whether rows without a partner count, the question says,
    and the schema does not.
    """
    named = find_named_keys(question, context.foreign_keys, links)
    graph = JoinGraph((hit.table.qualified for hit in context.tables), context.foreign_keys, named)
    terminals = choose_terminals(links, graph, named)
    if not terminals:
        return JoinPlan()
    names = dict(zip((hit.table.qualified for hit in context.tables), context.names, strict=True))
    ways: list[frozenset[int]] = [frozenset()]
    if len(terminals) > 1:
        ways = find_ways(graph, terminals, 1 + alternatives)
    paths = []
    for way in ways:
        keys = [graph.keys[at] for at in sorted(way)]
        roles = _find_roles(terminals[0], keys, named)
        paths.append(write_path(terminals[0], keys, roles, names, context.dialect))
    best = paths[0]
    if len(best.tables) < 2:
        return JoinPlan(best.tables)
    return JoinPlan(best.tables, best.keys, best.skeleton, _without_repeats(paths))


def _find_roles(
    start: str, keys: Sequence[ForeignKey], named: Sequence[ForeignKey]
) -> tuple[ForeignKey, ...]:
    """The named keys that bring a table in once more: onto itself, or beside a key that is used."""
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
    """All but the first, each set of keys once: two roles may change places."""
    different: dict[frozenset[ForeignKey], JoinPath] = {}
    for path in paths:
        different.setdefault(frozenset(path.keys), path)
    return tuple(different.values())[1:]
