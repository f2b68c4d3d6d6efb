"""Runs of the oracle over a corpus: which queries, as whom, and the tally of what came of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from nl2sql.catalog import Catalog
from nl2sql.types import Principal
from tests.oracle.corpus import Query, list_queries
from tests.oracle.stage import PostgresStage
from tests.oracle.tally import Finding, Tally
from tests.oracle.verdicts import Judge


def judge_corpus(
    stage: PostgresStage,
    principals: Sequence[Principal],
    rng: random.Random,
    *,
    most: int | None = None,
    progress: Callable[[str, Tally], None] = lambda name, tally: None,
) -> Tally:
    """Judges up to ``most`` queries of the stage's as each principal, all where it is None.

    Golds as they stand are always among them. Raises PolicyError, psycopg.Error.
    """
    tally, subject = Tally(), stage.subject
    queries = list_queries(subject.catalog, subject.golds)
    for principal in principals:
        judge_queries(stage.judge(principal), principal, _sample(queries, most, rng), tally)
        progress(principal.name, tally)
    return tally


def judge_queries(
    judge: Judge, principal: Principal, queries: Sequence[Query], tally: Tally
) -> None:
    """Judges the queries and adds the verdicts to ``tally``."""
    for query in queries:
        tally.add(Finding(principal.name, query, judge.judge(query.sql)))


def cut_catalog(catalog: Catalog, names: set[str]) -> Catalog:
    """The catalog with these tables only, and the keys between them."""
    return Catalog(
        catalog.database,
        tuple(table for table in catalog.tables if table.qualified in names),
        tuple(key for key in catalog.foreign_keys if {key.table, key.target} <= names),
        catalog.search_path,
        catalog.dialect,
    )


def _sample(queries: Sequence[Query], most: int | None, rng: random.Random) -> list[Query]:
    if most is None or len(queries) <= most:
        return list(queries)
    golds = [query for query in queries if query.kind == "gold"]
    others = [query for query in queries if query.kind != "gold"]
    kept = rng.sample(golds, min(len(golds), most))
    return [*kept, *rng.sample(others, most - len(kept))]
