"""Ways through graphs drawn at random: a tree that reaches what it must, and nothing loose."""

from __future__ import annotations

import random

import networkx as nx
import pytest

from nl2sql.catalog import ForeignKey
from retrieval.joins.planner import JoinGraph, find_joins, is_only_way


def draw_graph(draw: random.Random) -> JoinGraph:
    """4 to 14 tables, and up to three keys each, onto itself and parallel ones among them."""
    tables = [f"s.t{at}" for at in range(draw.randint(4, 14))]
    keys = [
        ForeignKey(
            f"k{at}",
            draw.choice(tables),
            ("other_id",),
            draw.choice(tables),
            ("id",),
            inferred=draw.random() < 0.3,
        )
        for at in range(draw.randint(len(tables), 3 * len(tables)))
    ]
    return JoinGraph(tables, keys)


def find_largest_part(join_graph: JoinGraph) -> list[str]:
    """The most tables that hang together."""
    return max((sorted(component) for component in join_graph.components()), key=len)


@pytest.mark.parametrize("seed", range(20))
def test_every_way_is_a_tree_between_the_terminals(seed: int) -> None:
    draw = random.Random(seed)
    join_graph = draw_graph(draw)
    tables = find_largest_part(join_graph)
    terminals = draw.sample(tables, min(len(tables), draw.randint(2, 5)))
    if len(terminals) < 2:
        return
    way = find_joins(join_graph, terminals)
    tree = nx.Graph(
        (at, table)
        for at in way
        for table in (join_graph.keys[at].table, join_graph.keys[at].target)
    )
    assert nx.is_tree(tree)
    assert set(terminals) <= set(tree)
    assert all(node in terminals for node in tree if tree.degree(node) == 1)


@pytest.mark.parametrize(("keys", "is_only"), [(1, True), (2, False)])
def test_a_second_way_at_the_same_cost_is_noticed(keys: int, is_only: bool) -> None:
    parallel = [ForeignKey(f"k{at}", "s.a", (f"{at}_id",), "s.b", ("id",)) for at in range(keys)]
    join_graph = JoinGraph(["s.a", "s.b"], parallel)
    way = find_joins(join_graph, ["s.a", "s.b"])
    assert is_only_way(join_graph, ["s.a", "s.b"], way) is is_only
