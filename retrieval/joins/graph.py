"""The tables in sight as a graph in which every key is a node of its own.

So keys between the same two tables stay apart, and networkx' algorithms for simple graphs find
different keys as different ways. Tables are nodes by their qualified name, keys by their position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import networkx as nx

from nl2sql.catalog import ForeignKey

_DECLARED = 1.0
# Two declared keys in a row are as good as one inferred key and a bit.
_INFERRED = 1.8
# A key whose role the question names is taken before its neighbours, not before a shorter way.
_NAMED = 0.75


class JoinGraph:
    """The keys that join one table to another, and what each costs."""

    def __init__(
        self,
        tables: Iterable[str],
        foreign_keys: Sequence[ForeignKey],
        named: Collection[ForeignKey] = (),
    ) -> None:
        self.graph = nx.Graph()
        self.graph.add_nodes_from(tables)
        inside = set(self.graph)
        # By name, so that of equal ways the same one is the first in every question.
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
        """The tables that hang together, in the order of their first table."""
        return [
            frozenset(node for node in component if isinstance(node, str))
            for component in nx.connected_components(self.graph)
        ]

    def cost(self, keys: Iterable[int]) -> float:
        """What joining over these keys costs."""
        costs = (cost for at in keys for _, _, cost in self.graph.edges(at, data="weight"))
        return float(sum(costs))
