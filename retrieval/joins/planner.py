"""Plans the joins between the tables that a question's words refer to, as ``FROM … JOIN … ON …``.

A role is a word in a key's name that distinguishes it from other keys to the same table.
``orders.billing_address_id`` and ``orders.shipping_address_id`` both refer to addresses; the words
"billing" and "shipping" distinguish them. ``employees.manager_id`` refers to employees again: the
manager of an employee is an employee in another role. Roles are the aliases of tables that occur
twice.

In the graph every foreign key is a node too, so that networkx' algorithms for simple graphs can
distinguish keys between the same two tables. Table nodes are qualified names, key nodes are
positions. For two tables: the shortest path. For more: the Steiner tree (approximation of Mehlhorn
1988, in networkx).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Container, Iterable, Mapping, Sequence

import networkx as nx
from networkx.algorithms.approximation import steiner_tree

from nl2sql.catalog import ForeignKey
from nl2sql.sql.names import fold_name, quote_name
from nl2sql.types import JoinPlan, SchemaContext, SchemaLink
from nl2sql.words import split_words
from retrieval.linking.words import read_name

# Links by a column's meaning; for links by its name, the words of the role decide.
_MEANT = frozenset({"synonym", "comment"})
# Words that mark a column as a reference and are not part of its role.
_REFERENCE_WORDS = frozenset("id no nr num number code key fk ref uid uuid by".split())


def name_role(key: ForeignKey) -> str:
    """The role of the target, in the words of the key's first column.

    >>> key = ForeignKey("k", "hr.staff", ("ManagerId",), "hr.staff", ("id",))
    >>> name_role(key)
    'manager'
    """
    words = read_name(key.columns[0])
    kept = [word for word in words if word not in _REFERENCE_WORDS]
    return "_".join(kept or words)


def find_named_keys(
    question: str, foreign_keys: Sequence[ForeignKey], links: Sequence[SchemaLink]
) -> tuple[ForeignKey, ...]:
    """The keys whose role the question names, by the key's words or by a link to its column.

    Only keys that need a role: one of several between two tables, or of a table to itself.
    """
    pairs = Counter((key.table, key.target) for key in foreign_keys)
    spoken = frozenset(split_words(question))
    linked = {(link.table, link.column) for link in links if link.method in _MEANT}
    return tuple(
        key
        for key in foreign_keys
        if (key.table == key.target or pairs[key.table, key.target] > 1)
        and (
            ((role := _role_words(key)) and role <= spoken)
            or any((key.table, column) in linked for column in key.columns)
        )
    )


def _role_words(key: ForeignKey) -> frozenset[str]:
    """The words of the column's name that are not in the target's name."""
    target = {*read_name(key.target.split(".", 1)[-1]), *_REFERENCE_WORDS}
    return frozenset(word for word in read_name(key.columns[0]) if word not in target)


# With more terminals the plan would be most of the schema, and no help.
_MOST_TERMINALS = 5
_LEAST_WEIGHT = 0.4
# A link to a column counts half for its table, except one by a value.
_COLUMN_SHARE = 0.5


def choose_terminals(
    links: Sequence[SchemaLink],
    graph: JoinGraph,
    named: Sequence[ForeignKey] = (),
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
        share = _COLUMN_SHARE if link.column and link.method != "value" else 1.0
        weights[link.table] = weights.get(link.table, 0.0) + link.score * share
        explained_by = words.setdefault(link.table, set())
        explained_by.update(link.phrase.lower().split())
        if link.method == "definition":
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
            worth = sum(weights.get(table, 0.0) for table in chosen)
            best = max(best, ((len(explained), worth, -likely.index(chosen[0])), chosen))
    return tuple(best[1][:_MOST_TERMINALS])


def write_path(
    start: str,
    keys: Sequence[ForeignKey],
    roles: Collection[ForeignKey],
    names: Mapping[str, str],
    dialect: str,
) -> JoinPlan:
    """The path from ``start`` over ``keys``, which are connected, and over ``roles``.

    A role is a key whose target is joined once more, under an alias. ``names`` maps tables to their
    SQL names.
    """
    twice = Counter((key.table, key.target) for key in (*keys, *roles))
    taken = {fold_name(name, dialect) for name in names.values()}
    tables, used, lines = [start], list[ForeignKey](), [f"FROM {names[start]}"]
    labels = {start: names[start]}
    queue = deque([start])
    waiting = list(keys)

    def join(far: str, key: ForeignKey, *, needs_role: bool) -> str:
        """Adds a JOIN of the table ``far`` and returns its SQL name."""
        name = joined = names[far]
        if needs_role:
            name = quote_name(_choose_alias(name_role(key), taken, dialect), dialect)
            joined = f"{joined} AS {name}"
        sides = (labels[key.table], name) if far == key.target else (name, labels[key.target])
        condition = " AND ".join(
            f"{sides[0]}.{quote_name(mine, dialect)} = {sides[1]}.{quote_name(theirs, dialect)}"
            for mine, theirs in zip(key.columns, key.target_columns, strict=True)
        )
        tables.append(far)
        used.append(key)
        lines.append(f"JOIN {joined} ON {condition}")
        return name

    while queue:
        near = queue.popleft()
        for key in [key for key in waiting if near in (key.table, key.target)]:
            waiting.remove(key)
            far = key.target if near == key.table else key.table
            # An alias is needed if another key joins the same table once more.
            is_twice = far == key.target and twice[key.table, key.target] > 1
            labels[far] = join(far, key, needs_role=is_twice)
            queue.append(far)
    for key in roles:
        if key.table in labels:
            join(key.target, key, needs_role=True)
    return JoinPlan(tuple(tables), tuple(used), "\n".join(lines))


def _choose_alias(role: str, taken: set[str], dialect: str) -> str:
    """The role, with a number appended if it is the name of a table or of another role."""
    number = 1
    chosen = role
    while fold_name(chosen, dialect) in taken:
        number += 1
        chosen = f"{role}_{number}"
    taken.add(fold_name(chosen, dialect))
    return chosen


def plan_joins(question: str, context: SchemaContext, links: Sequence[SchemaLink]) -> JoinPlan:
    """The cheapest joins between the named tables; empty if none is named.

    A single table needs no joins, unless the question names a role of it (the manager of an
    employee). All joins are inner joins: the schema does not show whether rows without a partner
    are wanted.
    """
    named = find_named_keys(question, context.foreign_keys, links)
    graph = JoinGraph((hit.table.qualified for hit in context.tables), context.foreign_keys, named)
    terminals = choose_terminals(links, graph, named)
    if not terminals:
        return JoinPlan()
    names = dict(zip((hit.table.qualified for hit in context.tables), context.names, strict=True))
    positions = graph.connect(terminals) if len(terminals) > 1 else frozenset()
    keys = [graph.keys[at] for at in sorted(positions)]
    roles = _find_roles(terminals[0], keys, named)
    plan = write_path(terminals[0], keys, roles, names, context.dialect)
    return plan if len(plan.tables) > 1 else JoinPlan(plan.tables)


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

    def connect(self, tables: Sequence[str]) -> frozenset[int]:
        """The cheapest set of keys (their positions) that joins two or more tables, if any."""
        return _connect(self.graph, tables)

    def is_only_way(self, tables: Sequence[str], keys: frozenset[int]) -> bool:
        """Whether no other set of keys joins the tables at the cost of ``keys``."""
        cost = 1.001 * self.cost(keys)  # sums of equal costs may differ in their last digit
        # No way that costs as little leads farther.
        near = nx.single_source_dijkstra_path_length(self.graph, tables[0], cutoff=cost)
        graph = _keep(self.graph, near)
        others = (_connect(_keep(graph, near.keys() - {key}), tables) for key in keys)
        return not any(other and self.cost(other) <= cost for other in others)


def _connect(graph: nx.Graph, tables: Sequence[str]) -> frozenset[int]:
    component = nx.node_connected_component(graph, tables[0])
    if not component.issuperset(tables):
        return frozenset()
    if len(tables) == 2:
        nodes = next(nx.shortest_simple_paths(graph, *tables, weight="weight"))
    else:
        nodes = steiner_tree(_keep(graph, component), tables, method="mehlhorn")
    return frozenset(node for node in nodes if isinstance(node, int))


def _keep(graph: nx.Graph, nodes: Container[str | int]) -> nx.Graph:
    """The part of these nodes in the graph's order, by which equal costs are told apart.

    Subgraphs of networkx have any order, and filter the graph at every access.
    """
    kept = nx.Graph()
    kept.add_nodes_from(node for node in graph if node in nodes)
    kept.add_edges_from(edge for edge in graph.edges(kept, data=True) if edge[1] in nodes)
    return kept
