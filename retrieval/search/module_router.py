"""Stage 1: chooses the one to three modules that a question is about.

The confidence is the mean of a keyword score (the question's words in the module's names and
comments, weighted by rarity) and the cosine similarity of the module's nearest table card. The
route only raises tables, so that a wrong route does not lose a table that search found. It uses
only the visible catalog.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nl2sql.types import ModuleRoute
from nl2sql.words import content_words
from retrieval.search.bm25 import KeywordIndex
from retrieval.search.question_words import QuestionWords

MOST_MODULES = 3
RELATED_WEIGHT = 0.4
# The route includes modules with at least this share of the best one's confidence.
_NEAR_BEST = 0.8

Shares = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ModuleEvidence:
    """For each module its keyword score and its nearest card's cosine, both from 0 to 1."""

    words: Shares
    nearest: Shares


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

    def weigh(self, words: QuestionWords, cosines: Mapping[int, float]) -> ModuleEvidence:
        """The evidence for every module; ``cosines`` are those of the ranked tables."""
        scores = self._keywords.score(words.own)
        scores = scores + RELATED_WEIGHT * self._keywords.score(words.related)
        best = float(scores.max(initial=0.0))
        nearest = np.zeros(len(self.names), dtype=np.float32)
        if cosines:
            at = self.module_of[np.fromiter(cosines, dtype=np.int64, count=len(cosines))]
            np.maximum.at(nearest, at, np.fromiter(cosines.values(), dtype=np.float32))
        return ModuleEvidence(scores / best if best > 0 else scores, nearest)

    def route(self, evidence: ModuleEvidence) -> ModuleRoute:
        """At most three modules, best first; none without any evidence."""
        scores = (evidence.words + evidence.nearest) / 2
        order = np.argsort(-scores, kind="stable")[:MOST_MODULES]
        best = float(scores.max(initial=0.0))
        if best <= 0:
            return ModuleRoute((), "none", ())
        chosen = [int(at) for at in order if scores[at] >= _NEAR_BEST * best]
        methods = {"keywords": evidence.words, "embedding": evidence.nearest}
        return ModuleRoute(
            modules=tuple(self.names[at] for at in chosen),
            method="+".join(name for name, shares in methods.items() if shares.any()),
            confidences=tuple(round(float(scores[at]), 4) for at in chosen),
        )
