"""Asks every variant every question of a run, one at a time, and writes a record of each.

Questions are asked one at a time because times are measured. All variants answer a question before
the next one, so that other load on the machine affects all variants alike. Knows nothing of how the
variants are made.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from data.benchmarks.types import Example
from evaluation.metrics.gold_schema import find_gold_schema
from evaluation.retrieval.records import RetrievalManifest, RetrievalRecord
from evaluation.retrieval.search import SearchSystem, Target, search
from evaluation.runs.run_folder import RunFolder
from nl2sql.catalog import Catalog
from nl2sql.protocols import CatalogSource
from nl2sql.types import Principal, Question
from retrieval.embedding.embedder import Embedder, SentenceModel

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class MeasuredExamples:
    """The examples of a run; ``missing``: database → why it is unavailable."""

    examples: Sequence[Example]
    missing: Mapping[str, str]
    principal: Principal
    evidence: bool = False


async def run_retrieval(
    asking: MeasuredExamples,
    systems: Mapping[str, SearchSystem],
    catalogs: CatalogSource,
    embedder: RememberedEmbedder,
    run: RunFolder[RetrievalManifest],
    *,
    progress: Progress = lambda done, total: None,
) -> None:
    """Asks the remaining questions of the run; calls ``progress(done, total)`` after each.

    ``embedder`` is the one that the systems use. Raises Unavailable when the index stops answering:
    records are kept, and the next call continues. The run must be open.
    """
    done = run.done()
    golds = _Golds(catalogs)
    warm: set[str] = set()
    progress(len(done), len(asking.examples))
    for example in asking.examples:
        if example.id in done:
            continue
        known = {
            "id": example.id,
            "database": example.database,
            "question": example.question,
            "gold": example.golds[0],
        }
        target = None
        reason = asking.missing.get(example.database, "")
        if not reason:
            target = await golds.find(example)
            if not target.tables:
                reason = "no table that the gold query names is in the catalog"
        if target is None or reason:
            run.append(RetrievalRecord(**known, gold_error=reason))
        else:
            question = Question(
                text=example.question,
                database=example.database,
                principal=asking.principal,
                k=1,
                seed=0,
                max_rows=1,
                evidence=example.evidence if asking.evidence else "",
            )
            embed_ms = await asyncio.to_thread(embedder.learn, question.search_text)
            if example.database not in warm:
                # The first question of a database loads its index, which is not timed.
                for system in systems.values():
                    await search(question, system, target)
                warm.add(example.database)
            findings = {
                name: await search(question, system, target) for name, system in systems.items()
            }
            run.append(
                RetrievalRecord(
                    **known,
                    gold_tables=target.tables,
                    gold_columns=target.columns,
                    embed_ms=embed_ms,
                    findings=findings,
                )
            )
        done.add(example.id)
        progress(len(done), len(asking.examples))


class RememberedEmbedder(Embedder):
    """Caches all vectors of another embedder, so that each text is embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder.name)
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the other embedder, which embeds only new texts."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
            self._vectors.update(zip(missing, self._embedder.embed(missing), strict=True))
        return np.array([self._vectors[text] for text in texts], dtype=np.float32)

    def learn(self, text: str) -> float:
        """Embeds ``text``, cached or not, and returns the milliseconds that it took."""
        start = time.perf_counter()
        (vector,) = self._embedder.embed([text])
        milliseconds = (time.perf_counter() - start) * 1000
        self._vectors[text] = vector
        return milliseconds

    def load(self) -> SentenceModel:
        """The other embedder's model."""
        return self._embedder.load()


class _Golds:
    """Finds what gold queries read, with the example's schema first in the search path."""

    def __init__(self, catalogs: CatalogSource) -> None:
        self._catalogs = catalogs
        self._by_schema: dict[tuple[str, str], Catalog] = {}

    async def find(self, example: Example) -> Target:
        """The tables and columns of the first gold query. Raises Unavailable."""
        catalog = await self._catalogs.catalog(example.database)
        key = (example.database, example.schema)
        if key not in self._by_schema:
            path = (example.schema, *catalog.search_path) if example.schema else catalog.search_path
            self._by_schema[key] = replace(catalog, search_path=path)
        tables, columns = find_gold_schema(example.golds[0], self._by_schema[key])
        return Target(tables, columns, catalog)
