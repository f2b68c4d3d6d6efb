"""Measuring retrieval: what a question finds and misses, the run, its figures and its report."""

from __future__ import annotations

import re
from typing import Any

import pytest

from data.benchmarks.types import Benchmark
from evaluation.retrieval.measures import recall, summarize
from evaluation.retrieval.report import render_report
from evaluation.retrieval.runner import RetrievalRecord, run_retrieval
from evaluation.retrieval.search import SearchFinding, SearchSystem, Target, search
from nl2sql.errors import IndexUnavailable, PolicyError, SettingsError
from nl2sql.types import Plan, Principal
from serve_app.operations.measuring_retrieval import VARIANTS, choose_variants
from serve_app.operations.variants import override
from tests.evaluation.builders import build_example
from tests.fakes import (
    SHOP,
    FakeCatalogs,
    FakePlanner,
    FakeRetriever,
    build_context,
    build_question,
    build_settings,
)

GOLD = Target(
    ("sales.customers", "sales.orders", "stock.returns"),
    ("sales.customers.name", "sales.orders.id", "sales.orders.total", "stock.returns.reason"),
    SHOP,
)


def build_system(*shown: str, plan: Plan | None = None) -> SearchSystem:
    return SearchSystem(FakeRetriever(build_context(tables=shown)), FakePlanner(plan))


async def test_what_is_shown_and_what_is_missed() -> None:
    finding = await search(build_question(), build_system("sales.orders", "stock.products"), GOLD)
    assert finding.tables == ("sales.orders", "stock.products")
    assert finding.missed_tables == ("sales.customers", "stock.returns")
    assert finding.columns == len(SHOP.tables[3].columns) + len(SHOP.tables[4].columns)
    assert set(finding.stages_ms) == {"route and retrieve", "link and plan"}
    assert not finding.error


async def test_columns_that_pruning_took_from_shown_tables() -> None:
    shown = ("sales.orders", "sales.customers", "stock.returns")
    plan = Plan(columns=(("sales.orders", ("id", "customer_id")),))
    finding = await search(build_question(), build_system(*shown, plan=plan), GOLD)
    assert finding.missed_columns == ("sales.orders.total",)
    whole = await search(build_question(), build_system(*shown), GOLD)
    assert whole.missed_columns == ()
    assert finding.columns == whole.columns - len(SHOP.tables[3].columns) + 2
    assert finding.tokens < whole.tokens


async def test_an_error_of_the_question_finds_nothing() -> None:
    system = SearchSystem(FakeRetriever(PolicyError("no such table")), FakePlanner())
    finding = await search(build_question(), system, GOLD)
    assert "no such table" in finding.error
    assert finding.missed_tables == GOLD.tables


async def run(retriever: FakeRetriever) -> list[RetrievalRecord]:
    orders = "SELECT count(*) FROM orders"
    examples = (
        build_example("q1", golds=(orders,)),
        build_example("q2", golds=("SELECT x FROM nowhere",)),
        build_example("q3", database="lost"),
    )
    benchmark = Benchmark("shop", "postgres", examples, {}, "0" * 64, {"lost": "no file"})
    systems = {"full": SearchSystem(retriever, FakePlanner())}
    return await run_retrieval(benchmark, systems, FakeCatalogs(SHOP), Principal("tester"))


async def test_every_question_has_a_record() -> None:
    found, unresolved, missing = await run(FakeRetriever())
    assert found.gold_tables == ("sales.orders",)
    assert found.findings["full"].missed_tables == ()
    assert "no table" in unresolved.gold_error
    assert missing.gold_error == "no file"


async def test_an_index_that_is_gone_stops_the_run() -> None:
    with pytest.raises(IndexUnavailable):
        await run(FakeRetriever(IndexUnavailable("gone")))


def build_finding(*shown: str, missed: tuple[str, ...] = (), **overrides: Any) -> SearchFinding:
    values: dict[str, Any] = {
        "tables": shown,
        "missed_tables": missed,
        "stages_ms": {"route and retrieve": 2.0, "link and plan": 1.0},
    }
    return SearchFinding(**{**values, **overrides})


def build_record(name: str, finding: SearchFinding) -> RetrievalRecord:
    """A question whose gold reads two columns of ``s.orders`` and one of ``s.lines``."""
    return RetrievalRecord(
        name,
        gold_tables=("s.lines", "s.orders"),
        gold_columns=("s.lines.price", "s.orders.id", "s.orders.total"),
        findings={"full": finding},
    )


WHOLE = build_finding("s.orders", "s.lines")
HALF = build_finding("s.orders", "s.x", missed=("s.lines",))


def test_recall_over_what_is_shown_and_the_first_of_it() -> None:
    record = build_record("q1", HALF)
    assert recall(record, HALF) == 0.5
    assert [recall(record, WHOLE, k) for k in (1, 2)] == [0.5, 1.0]


def test_the_figures_of_a_variant() -> None:
    pruned = build_finding("s.orders", "s.lines", missed_columns=("s.orders.total",))
    records = [build_record("q1", WHOLE), build_record("q2", HALF), build_record("q3", pruned)]
    (figures,) = summarize(records).variants
    assert figures.questions == 3
    assert figures.all_tables.value == pytest.approx(2 / 3)
    assert figures.tables.value == pytest.approx(2.5 / 3)
    # Of q2, only the columns of the table that is shown count.
    assert figures.columns.value == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert figures.shown_tables == pytest.approx(2.0)
    assert figures.stages_ms["link and plan"].p50 == 1.0
    assert figures.missed == {"s.lines": ["q2"]}


def test_what_is_not_counted_and_what_raised_is_named_and_hostile_text_stays_text() -> None:
    hostile = "</script><img src=x onerror=alert(1)>|"
    failed = build_finding(missed=("s.li|nes", "s.orders"), error="refused", stages_ms={})
    figures = summarize([build_record("q1", failed), RetrievalRecord("q2", hostile)])
    assert figures.not_counted == (("q2", hostile),)
    (variant,) = figures.variants
    assert (variant.all_tables.value, variant.errors) == (0.0, (("q1", "refused"),))
    text = render_report(hostile, figures)
    assert "- error, counted as finding nothing: full, q1: refused" in text
    assert "| s.li\\|nes | 1 | q1 |" in text
    assert not re.search(r"(?<!\\)<", text)


def test_variants_are_one_ranking_each_then_both_then_all_over_the_users_settings() -> None:
    settings = override(build_settings(), ["retrieval.max_tables=5"])
    found = choose_variants(settings)
    assert list(found) == list(VARIANTS)
    assert found["full"] == settings
    assert {variant.retrieval.max_tables for variant in found.values()} == {5}
    assert not found["cosine"].flags.bm25
    assert not found["bm25"].flags.cosine
    rrf, with_keys = found["rrf"], found["rrf+fk"]
    assert rrf.flags.bm25
    assert rrf.flags.cosine
    assert (rrf.retrieval.fk_expansion_limit, with_keys.retrieval.fk_expansion_limit) == (0, 4)
    assert not with_keys.flags.module_router
    assert list(choose_variants(settings, ["full", "rrf"])) == ["rrf", "full"]
    with pytest.raises(SettingsError, match=r"no variant dense.*cosine, bm25"):
        choose_variants(settings, ["dense"])
