"""Runs of the oracle over a corpus: which queries, as whom, and the tally of what came of them."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from nl2sql.catalog import Catalog
from nl2sql.types import Principal
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.oracle.corpus import Query, build_gold_queries, build_table_queries
from tests.oracle.file_stage import FileStage
from tests.oracle.generated_policies import PRINCIPALS, build_policy
from tests.oracle.generated_queries import build_queries, read_values
from tests.oracle.stage import PostgresStage, Subject
from tests.oracle.tally import Finding, Tally
from tests.oracle.verdicts import Judge

Progress = Callable[[str, Tally], None]


def ignore_progress(_name: str, _tally: Tally) -> None:
    """Reports no progress."""


def list_queries(catalog: Catalog, golds: Sequence[tuple[str, str]]) -> list[Query]:
    """The whole corpus over one catalog: golds, their changes, and the tables' own queries."""
    return [*build_gold_queries(catalog, golds), *build_table_queries(catalog)]


def judge_subjects(
    stage: PostgresStage,
    principals: Sequence[Principal],
    rng: random.Random,
    *,
    most: int | None = None,
    subjects: int | None = None,
    progress: Progress = ignore_progress,
) -> Tally:
    """Judges up to ``most`` queries of each subject as each principal, all where it is None.

    Golds as they stand are always among them. ``subjects`` is how many of the stage's are asked
    about. Raises PolicyError, psycopg.Error.
    """
    tally = Tally()
    for subject in stage.subjects[:subjects]:
        queries = list_queries(subject.catalog, subject.golds)
        for principal in principals:
            judge = stage.judge(principal, subject)
            judge_queries(judge, principal, _sample(queries, most, rng), tally)
            progress(f"{subject.name} {principal.name}", tally)
    return tally


def judge_queries(
    judge: Judge, principal: Principal, queries: Sequence[Query], tally: Tally
) -> None:
    """Judges the queries and adds the verdicts to ``tally``."""
    for query in queries:
        tally.add(Finding(principal.name, query, judge.judge(query.sql)))


def judge_generated(
    stage: PostgresStage, principals: Sequence[Principal], *, examples: int, random_seed: int
) -> Tally:
    """Judges queries that hypothesis makes up, mostly over tables that the principal sees."""
    subject, tally = stage.subjects[0], Tally()
    judges = {principal.name: stage.judge(principal, subject) for principal in principals}
    values = read_values(stage.full.fetch, subject.catalog)
    cases = [
        st.tuples(
            st.just(principal.name),
            build_queries(cut_catalog(subject.catalog, stage.list_visible(principal)), values),
        )
        for principal in principals
    ]

    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @seed(random_seed)
    @given(st.one_of(cases))
    def judge(case: tuple[str, str]) -> None:
        name, statement = case
        query = Query("generated", "query", statement)
        tally.add(Finding(name, query, judges[name].judge(statement)))

    judge()
    return tally


def cut_catalog(catalog: Catalog, names: set[str]) -> Catalog:
    """The catalog with these tables only, and the keys between them."""
    return Catalog(
        catalog.database,
        tuple(table for table in catalog.tables if table.qualified in names),
        tuple(key for key in catalog.foreign_keys if {key.table, key.target} <= names),
        catalog.search_path,
        catalog.dialect,
    )


def judge_spider(
    folder: Path,
    rng: random.Random,
    *,
    most: int | None = None,
    databases: int | None = None,
    progress: Progress = ignore_progress,
) -> Tally:
    """The same over SQLite files in Spider's layout, under generated policies.

    ``databases`` is how many of them. Raises OSError, PolicyError, sqlite3.Error.
    """
    tally = Tally()
    golds = _read_spider(folder)
    with tempfile.TemporaryDirectory() as copies:
        for name, path in _list_files(folder, list(golds)[:databases]):
            catalog = read_sqlite_catalog(path, database=name)
            subject = Subject(name, catalog, build_policy(catalog), golds[name])
            queries = list_queries(catalog, subject.golds)
            stage = FileStage(path, subject, Path(copies))
            for principal in PRINCIPALS:
                judge = stage.judge(principal)
                judge_queries(judge, principal, _sample(queries, most, rng), tally)
            stage.close()
            progress(name, tally)
    return tally


def _sample(queries: Sequence[Query], most: int | None, rng: random.Random) -> list[Query]:
    if most is None or len(queries) <= most:
        return list(queries)
    golds = [query for query in queries if query.kind == "gold"]
    others = [query for query in queries if query.kind != "gold"]
    kept = rng.sample(golds, min(len(golds), most))
    return [*kept, *rng.sample(others, most - len(kept))]


def _read_spider(folder: Path) -> dict[str, list[tuple[str, str]]]:
    golds: dict[str, list[tuple[str, str]]] = {}
    for name in ("dev", "train"):
        entries = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for number, entry in enumerate(entries):
            golds.setdefault(entry["db_id"], []).append((f"{name}-{number}", entry["query"]))
    return golds


def _list_files(folder: Path, names: Sequence[str]) -> Iterator[tuple[str, Path]]:
    for name in names:
        path = folder / "database" / name / f"{name}.sqlite"
        if path.is_file():
            yield name, path
