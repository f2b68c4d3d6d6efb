"""Plans joins over the foreign-key graph, by networkx.

The linked tables are the terminals of a Steiner tree (approximation of Mehlhorn 1988, as networkx
implements it) over the tables in sight; its edges, walked breadth-first, make the skeleton
``FROM … JOIN … ON …``. Where two tables are joined by several keys, the first in name order is
taken; alternatives are not listed yet.
"""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
from networkx.algorithms.approximation import steiner_tree

from nl2sql.catalog import ForeignKey
from nl2sql.names import quote_name
from nl2sql.types import JoinPlan, SchemaContext, SchemaLinks

# With more terminals than this the "plan" would be the whole schema, and no help.
_MOST_TERMINALS = 5


def plan_joins(context: SchemaContext, links: SchemaLinks) -> JoinPlan:
    """The joins between the linked tables; empty when fewer than two of them hang together."""
    terminals = _choose_terminals(context, links)
    graph = nx.Graph()
    graph.add_nodes_from(hit.table.qualified for hit in context.tables)
    for key in sorted(context.foreign_keys, key=lambda key: key.name, reverse=True):
        if key.table != key.target:
            graph.add_edge(key.table, key.target, key=key)
    if not terminals:
        return JoinPlan()
    component = nx.node_connected_component(graph, terminals[0])
    terminals = [name for name in terminals if name in component]
    if len(terminals) < 2:
        return JoinPlan(tables=tuple(terminals))
    tree = steiner_tree(graph.subgraph(component), terminals, method="mehlhorn")
    names = dict(zip((hit.table.qualified for hit in context.tables), context.names, strict=True))
    order = [terminals[0]]
    clauses = [f"FROM {names[terminals[0]]}"]
    keys: list[ForeignKey] = []
    for near, far in nx.bfs_edges(tree, terminals[0], sort_neighbors=sorted):
        joining: ForeignKey = tree.edges[near, far]["key"]
        order.append(far)
        keys.append(joining)
        clauses.append(f"JOIN {names[far]} ON {_render_condition(joining, names, context.dialect)}")
    return JoinPlan(tuple(order), tuple(keys), "\n".join(clauses))


def _choose_terminals(context: SchemaContext, links: SchemaLinks) -> list[str]:
    """Tables that the question names, best link first; two columns of a table name it too."""
    weight: dict[str, float] = {}
    for link in links.links:
        gain = link.score if not link.column else link.score / 2
        weight[link.table] = weight.get(link.table, 0.0) + gain
    ranked = sorted(weight, key=lambda name: (-weight[name], name))
    return [name for name in ranked if weight[name] >= 1.0][:_MOST_TERMINALS]


def _render_condition(key: ForeignKey, names: dict[str, str], dialect: str) -> str:
    pairs: Sequence[tuple[str, str]] = list(zip(key.columns, key.target_columns, strict=True))
    left, right = names[key.table], names[key.target]
    return " AND ".join(
        f"{left}.{quote_name(mine, dialect)} = {right}.{quote_name(theirs, dialect)}"
        for mine, theirs in pairs
    )
