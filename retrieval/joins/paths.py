"""Ways to join tables: the cheapest and the next best.

Two tables: the k shortest simple paths (Yen 1971, as networkx' ``shortest_simple_paths``). More:
the Steiner tree (approximation of Mehlhorn 1988, as networkx implements it), and for the next best
the trees that go round one of its keys, which is the first step of Lawler's scheme.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import networkx as nx
from networkx.algorithms.approximation import steiner_tree

from retrieval.joins.graph import JoinGraph

# An alternative that takes more joins than this besides is no alternative.
_LONGEST_DETOUR = 2.0


def find_ways(join_graph: JoinGraph, terminals: Sequence[str], limit: int) -> list[frozenset[int]]:
    """The positions of the keys of at most ``limit`` ways, cheapest first.

    The ``terminals`` are two or more tables that hang together.
    """
    found = (
        _find_paths(join_graph, *terminals, limit=limit)
        if len(terminals) == 2
        else _find_trees(join_graph, terminals, limit)
    )
    ways = list(dict.fromkeys(found))
    costs = {way: join_graph.cost(way) for way in ways}
    ways.sort(key=costs.__getitem__)
    return [way for way in ways if costs[way] <= costs[ways[0]] + _LONGEST_DETOUR][:limit]


def _find_paths(
    join_graph: JoinGraph, source: str, target: str, *, limit: int
) -> Iterator[frozenset[int]]:
    if limit == 1:
        yield _keys_of(nx.dijkstra_path(join_graph.graph, source, target))
        return
    # Cheapest first: each costs time, so what is too long already ends the search.
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
    # A copy and no view: networkx looks through a view at every step.
    component = nx.node_connected_component(join_graph.graph, terminals[0])
    graph = join_graph.graph.subgraph(component).copy()
    best = _keys_of(steiner_tree(graph, terminals, method="mehlhorn"))
    yield best
    # The dearest keys first: doing without an inferred one is worth most.
    dearest = sorted(best, key=lambda at: (-join_graph.cost([at]), at))
    for left_out in dearest[: limit if limit > 1 else 0]:
        if way := _go_round(graph, best, left_out, terminals):
            yield way


def _go_round(
    graph: nx.Graph, tree: frozenset[int], left_out: int, terminals: Sequence[str]
) -> frozenset[int] | None:
    """The tree without one of its keys, its two halves joined by the cheapest way round; or None.

    What then hangs on it without being needed is cut off.
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
