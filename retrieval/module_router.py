"""Stage 1: which one to three modules a question is about.

Keywords (words of the module and of its tables' names) and embedding similarity against the mean
of a module's cards, added up. The route favours tables, it never hides one: a wrong route must not
lose a table that search would have found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nl2sql.types import ModuleRoute
from nl2sql.words import content_words, split_words

MOST_MODULES = 3
# A module joins the route while it reaches this share of the best one's confidence.
_NEAR_BEST = 0.6


class ModuleRouter:
    """Holds, for each module of one database, its keywords and its centroid."""

    def __init__(
        self, modules: Mapping[str, Sequence[str]], vectors: Mapping[str, NDArray[np.float32]]
    ) -> None:
        """``modules``: module → qualified table names; ``vectors``: table → unit vector."""
        self._modules = tuple(modules)
        self._keywords = [
            frozenset(
                word
                for name in (module, *(t.split(".")[-1] for t in tables))
                for word in split_words(name)
            )
            for module, tables in modules.items()
        ]
        centroids = [
            np.mean([vectors[table] for table in tables], axis=0) for tables in modules.values()
        ]
        self._centroids = np.array([c / np.linalg.norm(c) for c in centroids], dtype=np.float32)

    def route(self, question: str, vector: NDArray[np.float32]) -> ModuleRoute:
        """At most three modules, best first; ``vector`` is the question's unit vector."""
        if not self._modules:
            return ModuleRoute((), "none", ())
        words = set(content_words(question))
        overlap = np.array([len(words & keys) for keys in self._keywords], dtype=np.float32)
        keyword = overlap / max(float(overlap.max()), 1.0)
        similarity = np.clip(self._centroids @ vector, 0.0, 1.0)
        scores = (keyword + similarity) / 2
        order = np.argsort(-scores, kind="stable")[:MOST_MODULES]
        best = float(scores[order[0]])
        chosen = [int(at) for at in order if scores[at] >= _NEAR_BEST * best]
        return ModuleRoute(
            modules=tuple(self._modules[at] for at in chosen),
            method="keywords+embedding" if overlap.any() else "embedding",
            confidences=tuple(round(float(scores[at]), 4) for at in chosen),
        )
