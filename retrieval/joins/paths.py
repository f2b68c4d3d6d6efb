"""Finds the cheapest set of keys that joins given tables.

In the graph every foreign key is a node too, so that networkx' algorithms for simple graphs can
distinguish keys between the same two tables. Table nodes are qualified names, key nodes are
positions.

For two tables: the shortest path. For more: the Steiner tree (approximation of Mehlhorn 1988, in
networkx).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

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


def find_joins(join_graph: JoinGraph, terminals: Sequence[str]) -> frozenset[int]:
    """The cheapest set of keys (their positions) that joins two or more connected tables."""
    return _connect(join_graph.graph, terminals)


def is_only_way(join_graph: JoinGraph, terminals: Sequence[str], keys: frozenset[int]) -> bool:
    """Whether no other set of keys joins the tables at the cost of ``keys``."""
    for left_out in keys:
        graph = join_graph.graph.copy()
        graph.remove_node(left_out)
        if nx.node_connected_component(graph, terminals[0]).issuperset(terminals):
            other = _connect(graph, terminals)
            if join_graph.cost(other) <= join_graph.cost(keys):
                return False
    return True


def _connect(graph: nx.Graph, terminals: Sequence[str]) -> frozenset[int]:
    if len(terminals) == 2:
        nodes = next(nx.shortest_simple_paths(graph, *terminals, weight="weight"))
    else:
        # A copy, because networkx filters a view at every access.
        component = nx.node_connected_component(graph, terminals[0])
        nodes = steiner_tree(graph.subgraph(component).copy(), terminals, method="mehlhorn")
    return frozenset(node for node in nodes if isinstance(node, int))
