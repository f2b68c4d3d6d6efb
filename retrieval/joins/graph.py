"""The retrieved tables as a graph in which every foreign key is a node too.

So networkx' algorithms for simple graphs can distinguish keys between the same two tables. Table
nodes are qualified names, key nodes are positions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import networkx as nx

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
