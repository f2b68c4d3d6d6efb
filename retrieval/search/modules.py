"""Groups the tables of a database into modules.

Modules come from the patterns of the settings, or else from the database's schemas. If all tables
are in one schema, they are the communities of the foreign-key graph (Louvain: Blondel et al. 2008,
in networkx, with a fixed seed), named by the most frequent word of their tables' names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import networkx as nx

from nl2sql.catalog import Catalog
from nl2sql.words import split_words

Modules = dict[str, list[int]]
"""Module → its tables, as positions in the catalog."""

# A smaller schema is one module; a larger one takes Louvain minutes.
_FEWEST_TABLES = 24
_MOST_TABLES = 20_000


def find_modules(catalog: Catalog, patterns: Mapping[str, Sequence[str]]) -> Modules:
    """Assigns every table to a module, first by ``patterns`` (module → ``schema.table`` globs)."""
    modules: Modules = {}
    rest = []
    for at, table in enumerate(catalog.tables):
        name = next(
            (
                module
                for module, globs in patterns.items()
                if any(fnmatchcase(table.qualified, glob) for glob in globs)
            ),
            None,
        )
        if name is None:
            rest.append(at)
        else:
            modules.setdefault(name, []).append(at)
    schemas = {catalog.tables[at].schema for at in rest}
    if len(schemas) == 1 and _FEWEST_TABLES <= len(rest) <= _MOST_TABLES:
        groups = _find_communities(catalog, rest)
    else:
        groups = [(catalog.tables[at].schema, [at]) for at in rest]
    for name, tables in groups:
        modules.setdefault(name, []).extend(tables)
    return modules


def _find_communities(catalog: Catalog, tables: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Named groups; tables without a foreign key are a group with the schema's name."""
    at = {catalog.tables[table].qualified: table for table in tables}
    graph = nx.Graph()
    for key in (*catalog.foreign_keys, *catalog.inferred_keys):
        if key.table in at and key.target in at and key.table != key.target:
            graph.add_edge(at[key.table], at[key.target])
    groups: list[tuple[str, list[int]]] = []
    taken: set[str] = set()
    found = nx.community.louvain_communities(graph, seed=0) if graph else []
    for community in sorted(found, key=lambda group: (-len(group), min(group))):
        name = _name_group((catalog.tables[table].name for table in community), taken)
        taken.add(name)
        groups.append((name, sorted(community)))
    alone = [table for table in tables if table not in graph]
    if alone:
        groups.append((catalog.tables[alone[0]].schema, alone))
    return groups


def _name_group(names: Iterable[str], taken: set[str]) -> str:
    """The most frequent word that no other group is named by; ties alphabetically.

    >>> _name_group(["sales_orders", "order_lines", "customers"], set())
    'order'
    """
    counts = Counter(word for name in names for word in set(split_words(name)))
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    free = [word for word in ranked if word not in taken and not word.isdigit()]
    return free[0] if free else f"group {len(taken) + 1}"
