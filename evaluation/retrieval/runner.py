"""Asks every variant every question, one at a time, since times are measured.

All variants answer a question before the next one, so that other load on the machine affects all
alike. Knows nothing of how the variants are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from data.benchmarks.types import Benchmark
from evaluation.metrics.gold_schema import find_gold_schema
from evaluation.retrieval.search import SearchFinding, SearchSystem, Target, search
from nl2sql.protocols import CatalogSource
from nl2sql.types import Principal, Question


@dataclass(frozen=True, slots=True)
class RetrievalRecord:
    """One question, the tables and columns of its gold, and the finding of each variant.

    ``gold_error`` is set if the question is not counted: the database is missing, or no gold table
    is in its catalog.
    """

    id: str
    gold_error: str = ""
    gold_tables: tuple[str, ...] = ()
    gold_columns: tuple[str, ...] = ()
    findings: Mapping[str, SearchFinding] = field(default_factory=dict)


async def run_retrieval(
    benchmark: Benchmark,
    systems: Mapping[str, SearchSystem],
    catalogs: CatalogSource,
    principal: Principal,
    *,
    evidence: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    source_of: Callable[[str], str] = str,
) -> list[RetrievalRecord]:
    """The records of all questions; calls ``progress(done, total)`` after each.

    ``source_of`` gives the database of an assistant, for which tables that it does not show count
    as missed. Raises Unavailable when the index stops answering.
    """
    records = []
    for example in benchmark.examples:
        if reason := benchmark.missing.get(example.database, ""):
            records.append(RetrievalRecord(example.id, reason))
            continue
        catalog = await catalogs.catalog(source_of(example.database))
        target = Target(*find_gold_schema(example.golds[0], catalog), catalog)
        if not target.tables:
            reason = "no table that the gold query names is in the catalog"
            records.append(RetrievalRecord(example.id, reason))
            continue
        question = Question(
            text=example.question,
            database=example.database,
            principal=principal,
            k=1,
            seed=0,
            max_rows=1,
            evidence=example.evidence if evidence else "",
        )
        findings = {
            name: await search(question, system, target) for name, system in systems.items()
        }
        records.append(
            RetrievalRecord(example.id, "", target.tables, target.columns, findings),
        )
        progress(len(records), len(benchmark.examples))
    return records
