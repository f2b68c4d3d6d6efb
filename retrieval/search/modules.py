"""Module routing: groups tables into modules and chooses the one to three of a question.

Modules are the database's schemas. If all tables are in one schema, they are the communities of the
foreign-key graph (Louvain: Blondel et al. 2008, in networkx, with a fixed seed), named by the most
frequent word of their tables' names.

The confidence of a module is the mean of a keyword score (the question's words in its names and
comments, weighted by rarity) and the cosine similarity of its nearest table card. The route only
raises tables, so that a wrong route does not lose a table that search found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nl2sql.catalog import Catalog
from nl2sql.types import ModuleRoute
from nl2sql.words import content_words, split_words
from retrieval.search.keywords import KeywordIndex, Keywords

Modules = dict[str, list[int]]
"""Module → its tables, as positions in the catalog."""

# A smaller schema is one module; a larger one takes Louvain minutes.
_FEWEST_TABLES = 24
_MOST_TABLES = 20_000


def find_modules(catalog: Catalog) -> Modules:
    """Assigns every table to a module."""
    every = range(len(catalog.tables))
    schemas = {table.schema for table in catalog.tables}
    if len(schemas) == 1 and _FEWEST_TABLES <= len(every) <= _MOST_TABLES:
        return _find_communities(catalog)
    modules: Modules = {}
    for at, table in enumerate(catalog.tables):
        modules.setdefault(table.schema, []).append(at)
    return modules


def _find_communities(catalog: Catalog) -> Modules:
    """Named groups; tables without a foreign key are a group with the schema's name."""
    at = {table.qualified: number for number, table in enumerate(catalog.tables)}
    graph = nx.Graph()
    for key in catalog.keys:
        if key.table in at and key.target in at and key.table != key.target:
            graph.add_edge(at[key.table], at[key.target])
    modules: Modules = {}
    found = nx.community.louvain_communities(graph, seed=0) if graph else []
    for community in sorted(found, key=lambda group: (-len(group), min(group))):
        name = _name_group((catalog.tables[table].name for table in community), modules)
        modules[name] = sorted(community)
    for number, table in enumerate(catalog.tables):
        if number not in graph:
            modules.setdefault(table.schema, []).append(number)
    return modules


def _name_group(names: Iterable[str], taken: Collection[str]) -> str:
    """The most frequent word that no other group is named by; ties alphabetically.

    >>> _name_group(["sales_orders", "order_lines", "customers"], ())
    'order'
    """
    counts = Counter(word for name in names for word in set(split_words(name)))
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    free = [word for word in ranked if word not in taken and not word.isdigit()]
    return free[0] if free else f"group {len(taken) + 1}"


MOST_MODULES = 3
RELATED_WEIGHT = 0.4
# The route includes modules with at least this share of the best one's confidence.
_NEAR_BEST = 0.8

Shares = NDArray[np.float32]
"""A number from 0 to 1 for each module."""


class ModuleRouter:
    """Routes questions to the modules of one visible catalog."""

    def __init__(
        self, modules: Mapping[str, Sequence[int]], documents: Sequence[Sequence[str]]
    ) -> None:
        """``modules``: module → its tables, as positions in ``documents``, the tables' words."""
        self.names = tuple(modules)
        self.module_of = np.zeros(len(documents), dtype=np.int32)
        for number, tables in enumerate(modules.values()):
            self.module_of[list(tables)] = number
        # Each word once and no length normalisation, so that a word's score is its rarity.
        words = [
            list({*content_words(name), *(word for table in tables for word in documents[table])})
            for name, tables in modules.items()
        ]
        self._keywords = KeywordIndex(words, b=0.0)

    def weigh(self, words: Keywords, cosines: Mapping[int, float]) -> tuple[Shares, Shares]:
        """Their keyword scores and nearest cosines; ``cosines`` are those of the ranked tables."""
        scores = self._keywords.score(words.own)
        scores = scores + RELATED_WEIGHT * self._keywords.score(words.related)
        best = float(scores.max(initial=0.0))
        nearest = np.zeros(len(self.names), dtype=np.float32)
        if cosines:
            at = self.module_of[np.fromiter(cosines, dtype=np.int64, count=len(cosines))]
            np.maximum.at(nearest, at, np.fromiter(cosines.values(), dtype=np.float32))
        return scores / best if best > 0 else scores, nearest

    def route(self, words: Shares, nearest: Shares) -> ModuleRoute:
        """At most three modules, best first; none without any evidence."""
        scores = (words + nearest) / 2
        order = np.argsort(-scores, kind="stable")[:MOST_MODULES]
        best = float(scores.max(initial=0.0))
        if best <= 0:
            return ModuleRoute()
        chosen = [int(at) for at in order if scores[at] >= _NEAR_BEST * best]
        return ModuleRoute(
            modules=tuple(self.names[at] for at in chosen),
            confidences=tuple(round(float(scores[at]), 4) for at in chosen),
        )
