"""Finds the cheapest set of keys that joins given tables, and alternatives.

In the graph every foreign key is a node too, so that networkx' algorithms for simple graphs can
distinguish keys between the same two tables. Table nodes are qualified names, key nodes are
positions.

For two tables: the k shortest simple paths (Yen 1971, networkx' ``shortest_simple_paths``). For
more: the Steiner tree (approximation of Mehlhorn 1988, in networkx); the alternatives are trees
that avoid one of its keys, the first step of Lawler's scheme.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import networkx as nx
from networkx.algorithms.approximation import steiner_tree

from nl2sql.catalog import ForeignKey

_DECLARED = 1.0
# An inferred key costs slightly less than two declared keys.
_INFERRED = 1.8
# A key whose role the question names is preferred to a parallel key, but not to a shorter path.
_NAMED = 0.75


class JoinGraph:
    """The keys between tables, with their costs."""

    def __init__(
        self,
        tables: Iterable[str],
        foreign_keys: Sequence[ForeignKey],
        named: Collection[ForeignKey] = (),
    ) -> None:
        self.graph = nx.Graph()
        self.graph.add_nodes_from(tables)
        inside = set(self.graph)
        # Sorted, so that of equally cheap paths the same one is always first.
        self.keys = sorted(
            (
                key
                for key in foreign_keys
                if key.table != key.target and {key.table, key.target} <= inside
            ),
            key=lambda key: (key.table, key.name, key.columns),
        )
        for at, key in enumerate(self.keys):
            cost = (_INFERRED if key.inferred else _DECLARED) * (_NAMED if key in named else 1.0)
            self.graph.add_edge(key.table, at, weight=cost / 2)
            self.graph.add_edge(at, key.target, weight=cost / 2)

    def components(self) -> list[frozenset[str]]:
        """The connected components as sets of tables, in the order of their first table."""
        return [
            frozenset(node for node in component if isinstance(node, str))
            for component in nx.connected_components(self.graph)
        ]

    def cost(self, keys: Iterable[int]) -> float:
        """The cost of joining over these keys."""
        costs = (cost for at in keys for _, _, cost in self.graph.edges(at, data="weight"))
        return float(sum(costs))


# The most that an alternative may cost in addition.
_LONGEST_DETOUR = 2.0


def find_joins(join_graph: JoinGraph, terminals: Sequence[str], limit: int) -> list[frozenset[int]]:
    """At most ``limit`` sets of keys (their positions), cheapest first.

    The ``terminals`` are two or more connected tables.
    """
    found = (
        _find_paths(join_graph, *terminals, limit=limit)
        if len(terminals) == 2
        else _find_trees(join_graph, terminals, limit)
    )
    costs = {keys: join_graph.cost(keys) for keys in dict.fromkeys(found)}
    joins = sorted(costs, key=costs.__getitem__)
    return [keys for keys in joins if costs[keys] <= costs[joins[0]] + _LONGEST_DETOUR][:limit]


def _find_paths(
    join_graph: JoinGraph, source: str, target: str, *, limit: int
) -> Iterator[frozenset[int]]:
    if limit == 1:
        yield _keys_of(nx.dijkstra_path(join_graph.graph, source, target))
        return
    # Paths come cheapest first and take time to find, so the first too expensive one ends the
    # search.
    longest = float("inf")
    paths = nx.shortest_simple_paths(join_graph.graph, source, target, weight="weight")
    for keys in map(_keys_of, islice(paths, limit)):
        cost = join_graph.cost(keys)
        if cost > longest:
            return
        longest = min(longest, cost + _LONGEST_DETOUR)
        yield keys


def _find_trees(
    join_graph: JoinGraph, terminals: Sequence[str], limit: int
) -> Iterator[frozenset[int]]:
    # A copy, because networkx filters a view at every access.
    component = nx.node_connected_component(join_graph.graph, terminals[0])
    graph = join_graph.graph.subgraph(component).copy()
    best = _keys_of(steiner_tree(graph, terminals, method="mehlhorn"))
    yield best
    # The most expensive keys first: an alternative to an inferred key is most useful.
    by_cost = sorted(best, key=lambda at: (-join_graph.cost([at]), at))
    for left_out in by_cost[: limit if limit > 1 else 0]:
        if tree := _replace_key(graph, best, left_out, terminals):
            yield tree


def _replace_key(
    graph: nx.Graph, tree: frozenset[int], left_out: int, terminals: Sequence[str]
) -> frozenset[int] | None:
    """The tree with one of its keys replaced by the cheapest other path; None if there is none.

    Branches that are no longer needed are removed.
    """
    halves = nx.Graph((at, table) for at in tree - {left_out} for table in graph[at])
    halves.add_nodes_from(graph[left_out])
    near, far = (nx.node_connected_component(halves, table) for table in graph[left_out])
    ends = list(graph[left_out].items())
    graph.remove_node(left_out)
    costs, paths = nx.multi_source_dijkstra(graph, near)
    graph.add_edges_from((left_out, table, data) for table, data in ends)
    reached = [node for node in far if node in costs]
    if not reached:
        return None
    nx.add_path(halves, paths[min(reached, key=lambda node: (costs[node], str(node)))])
    loose = [table for table in halves if halves.degree(table) == 1 and table not in terminals]
    while loose:
        keys = [at for table in loose for at in halves[table]]
        halves.remove_nodes_from([*loose, *keys])
        loose = [node for node in halves if halves.degree(node) <= 1 and node not in terminals]
    return _keys_of(halves)


def _keys_of(nodes: Iterable[str | int]) -> frozenset[int]:
    return frozenset(node for node in nodes if isinstance(node, int))
