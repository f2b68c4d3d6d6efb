"""A run: every question once, whatever happened before; golds in the example's own schema."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from data.benchmarks.types import Example
from evaluation.retrieval.records import RetrievalManifest, RetrievalRecord
from evaluation.retrieval.runner import MeasuredExamples, RememberedEmbedder, run_retrieval
from evaluation.retrieval.search import SearchSystem
from evaluation.runs.run_folder import RunFolder, read_records
from nl2sql.catalog import Catalog
from nl2sql.errors import IndexUnavailable
from nl2sql.types import Principal
from tests.evaluation.builders import build_example
from tests.evaluation.retrieval.builders import build_manifest
from tests.fakes import SHOP, FakeCatalogs, FakeEmbedder, FakePlanner, FakeRetriever, build_table

ORDERS = "SELECT count(*) FROM orders"
EXAMPLES = (
    build_example("q1", golds=(ORDERS,)),
    build_example("q2", golds=("SELECT x FROM nowhere",)),
    build_example("q3", database="lost"),
    build_example("q1-again", golds=(ORDERS,), question="Number of purchases?"),
)


async def run(
    folder: Path,
    retriever: FakeRetriever,
    *,
    examples: tuple[Example, ...] = EXAMPLES,
    catalog: Catalog = SHOP,
) -> tuple[RetrievalRecord, ...]:
    asking = MeasuredExamples(examples, {"lost": "no file"}, Principal("tester"))
    embedder = RememberedEmbedder(FakeEmbedder())
    manifest = build_manifest(*(example.id for example in examples))
    run = RunFolder(folder, manifest)
    systems = {"full": SearchSystem(retriever, FakePlanner())}
    with run.open():
        await run_retrieval(asking, systems, FakeCatalogs(catalog), embedder, run)
    return read_records(folder, RetrievalManifest, RetrievalRecord)[1]


async def test_every_question_has_a_record(tmp_path: Path) -> None:
    found, unresolved, missing, again = await run(tmp_path / "run", FakeRetriever())
    assert found.gold_tables == ("sales.orders",)
    assert found.findings["full"].missed_tables == ()
    assert found.counts
    assert "no table" in unresolved.gold_error
    assert missing.gold_error == "no file"
    assert again.counts


async def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable):
        await run(tmp_path / "run", FakeRetriever(IndexUnavailable("gone")))
    await run(tmp_path / "run", FakeRetriever())
    later = FakeRetriever()
    records = await run(tmp_path / "run", later)
    assert later.questions == []
    assert [record.id for record in records] == [example.id for example in EXAMPLES]


async def test_names_of_a_gold_mean_its_own_schema_first(tmp_path: Path) -> None:
    twins = Catalog(
        "shop",
        (build_table("a.orders", "id integer"), build_table("b.orders", "id integer")),
        search_path=("a", "b"),
    )
    example = dataclasses.replace(build_example("q1", golds=(ORDERS,)), schema="b")
    (record,) = await run(tmp_path / "run", FakeRetriever(), examples=(example,), catalog=twins)
    assert record.gold_tables == ("b.orders",)
    assert record.findings["full"].missed_tables == ("b.orders",)
