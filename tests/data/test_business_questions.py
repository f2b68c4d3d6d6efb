"""The questions in the words of the business: their golds pass the guard and run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from data.benchmarks.gold_variants import expand_gold
from data.benchmarks.load import load_benchmark
from data.benchmarks.types import LocalFile
from data.demo_erp import BUSINESS_QUESTIONS, FIRST_QUESTIONS
from evaluation.metrics.gold_schema import find_gold_schema
from nl2sql.sql.parsing import parse_one
from nl2sql.types import GuardedQuery, ResultSet
from serve_app.composition.wiring import Wiring
from tests.fakes import FakeCatalogs

ERP86_QUESTIONS = Path(__file__).parents[2] / "data/benchmarks/erp86/business_questions.json"
ERP2377_QUESTIONS = Path(__file__).parents[2] / "data/benchmarks/erp2377/business_questions.json"
PUBLIC = Path(__file__).parents[2] / "data/benchmarks/public"
DEMO: list[dict[str, Any]] = [
    json.loads(line) for line in BUSINESS_QUESTIONS.read_text().splitlines()
]
FIRST: list[dict[str, Any]] = [
    json.loads(line) for line in FIRST_QUESTIONS.read_text().splitlines()
]


async def run_golds(
    wiring: Wiring, database: str, entries: Sequence[dict[str, Any]], most: int
) -> set[str]:
    """Runs ``most`` golds of each question; the ids of questions with one that gives no value.

    Each in its widest form: the others leave columns out. Retrieval is measured by the tables and
    columns of a gold, so these must be found too.
    """
    catalogs = FakeCatalogs(wiring.source(database).read_catalog())
    guard = wiring.build_guard(catalogs)
    executor = wiring.build_executor()
    principal = wiring.settings.identity.principal()
    empty = set()
    golds = [(entry["id"], query) for entry in entries for query in entry.get("query", ())[:most]]
    try:
        catalog = await catalogs.catalog(database)
        for name, gold in golds:
            sql = expand_gold(gold)[0]
            assert all(find_gold_schema(sql, catalog)), (name, sql)
            query = await guard.guard(database, sql, principal)
            assert isinstance(query, GuardedQuery), (name, sql, query)
            result = await executor.execute(query, 5000)
            assert isinstance(result, ResultSet), (name, sql, result)
            if not result.rows or set(result.rows[0]) == {None}:
                empty.add(name)
    finally:
        await executor.close()
    return empty


@pytest.mark.parametrize(
    ("path", "questions", "databases"), [(ERP86_QUESTIONS, 20, 1), (ERP2377_QUESTIONS, 53, 7)]
)
def test_the_set_about_a_dump_loads_beside_it_with_a_database_for_each_schema(
    path: Path, questions: int, databases: int, tmp_path: Path
) -> None:
    (tmp_path / f"{path.parent.name}.dump").touch()
    (tmp_path / path.name).symlink_to(path)
    benchmark = load_benchmark(str(tmp_path / path.name), configured=())
    assert benchmark.name == f"{path.parent.name} business_questions"
    assert len({example.question for example in benchmark.examples}) == questions
    assert len(benchmark.databases) == databases
    for example in benchmark.examples:
        assert parse_one(example.golds[0], "postgres").find(exp.Table) is not None


@pytest.mark.parametrize(
    ("file", "questions", "databases"),
    [("questions", 61, 8), ("new_questions", 54, 7), ("sample_db_questions", 62, 4)],
)
def test_a_set_about_public_databases_loads_beside_them(
    tmp_path: Path, file: str, questions: int, databases: int
) -> None:
    path = PUBLIC / f"{file}.json"
    for entry in json.loads(path.read_text()):
        ending = ".sqlite" if entry["database"] in ("chinook", "employee") else ".dump"
        (tmp_path / f"{entry['database']}{ending}").touch()
    (tmp_path / "questions.json").symlink_to(path)
    benchmark = load_benchmark(str(tmp_path), configured=())
    assert (len(benchmark.examples), len(benchmark.databases)) == (questions, databases)
    assert not benchmark.missing
    for example in benchmark.examples:
        source = benchmark.databases[example.database]
        dialect = "sqlite" if isinstance(source, LocalFile) else "postgres"
        for gold in example.golds:
            assert parse_one(gold, dialect).find(exp.Table) is not None, gold


@pytest.mark.parametrize("most", [1, pytest.param(99, marks=pytest.mark.long)])
async def test_golds_of_the_demo_give_rows_through_the_guard(wiring: Wiring, most: int) -> None:
    assert await run_golds(wiring, "demo_erp", [*DEMO, *FIRST], most) == set()
