"""Asks every variant every question of a run, one at a time, and writes a record of each.

One at a time, since times are taken. All variants answer a question before the next one is asked,
so that whatever else the machine does falls on all of them alike. Knows nothing of how the variants
are made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from data.benchmarks.types import Example
from evaluation.metrics.gold_schema import find_gold_schema
from evaluation.retrieval.records import RetrievalRecord
from evaluation.retrieval.remembered_embedder import RememberedEmbedder
from evaluation.retrieval.search import SearchSystem, Target, search
from evaluation.runs.journal import Journal
from nl2sql.catalog import Catalog
from nl2sql.protocols import CatalogSource
from nl2sql.types import Principal, Question

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Asking:
    """What a run asks: the examples, and which of them put which other one in new words.

    ``missing``: database → why it cannot be asked.
    """

    examples: Sequence[Example]
    rewords: Mapping[str, str]
    missing: Mapping[str, str]
    principal: Principal
    evidence: bool = False


async def run_retrieval(
    asking: Asking,
    systems: Mapping[str, SearchSystem],
    catalogs: CatalogSource,
    embedder: RememberedEmbedder,
    journal: Journal,
    *,
    progress: Progress = lambda done, total: None,
) -> None:
    """Asks what the run still lacks; ``progress(done, total)`` follows each question.

    ``embedder`` is the one that the systems use. Raises Unavailable when the index stops answering:
    what is written stays, and the next call goes on from there. Call it with the run open.
    """
    done = journal.done()
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
            "rewords": asking.rewords.get(example.id, ""),
            "gold": example.golds[0],
        }
        target = None
        reason = asking.missing.get(example.database, "")
        if not reason:
            target = await golds.find(example)
            if not target.tables:
                reason = "no table that the gold query names is in the catalog"
        if target is None or reason:
            journal.write(RetrievalRecord(**known, gold_error=reason))
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
                # The first question of a database reads its index: nobody waits for that twice.
                for system in systems.values():
                    await search(question, system, target)
                warm.add(example.database)
            findings = {
                name: await search(question, system, target) for name, system in systems.items()
            }
            journal.write(
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


class _Golds:
    """What gold queries read, each with its own schema first in the search path."""

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
