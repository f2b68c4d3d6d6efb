"""What one question finds and misses, over fake stages."""

from __future__ import annotations

import pytest

from evaluation.retrieval.search import SearchSystem, Target, search
from nl2sql.errors import IndexUnavailable, PolicyError
from nl2sql.types import Plan
from tests.fakes import (
    SHOP,
    FakePlanner,
    FakeRetriever,
    build_context,
    build_question,
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
    assert [table.table for table in finding.tables] == ["sales.orders", "stock.products"]
    assert finding.missed_tables == ("sales.customers", "stock.returns")
    assert finding.modules == ("sales", "stock")
    assert finding.columns == len(SHOP.tables[3].columns) + len(SHOP.tables[4].columns)
    assert set(finding.stages_ms) == {"route and retrieve", "link and plan"}
    assert not finding.error


async def test_columns_that_pruning_took_from_shown_tables() -> None:
    plan = Plan(columns=(("sales.orders", ("id", "customer_id")),))
    system = build_system("sales.orders", "sales.customers", "stock.returns", plan=plan)
    finding = await search(build_question(), system, GOLD)
    assert finding.missed_columns == ("sales.orders.total",)
    whole = await search(
        build_question(),
        build_system("sales.orders", "sales.customers", "stock.returns"),
        GOLD,
    )
    assert whole.missed_columns == ()
    assert finding.columns == whole.columns - len(SHOP.tables[3].columns) + 2
    assert finding.tokens < whole.tokens


async def test_an_error_of_the_question_finds_nothing() -> None:
    retriever = FakeRetriever(PolicyError("no such table"))
    system = SearchSystem(retriever, FakePlanner())
    finding = await search(build_question(), system, GOLD)
    assert "no such table" in finding.error
    assert finding.missed_tables == GOLD.tables


async def test_an_index_that_is_gone_stops_the_run() -> None:
    retriever = FakeRetriever(IndexUnavailable("gone"))
    with pytest.raises(IndexUnavailable):
        await search(build_question(), SearchSystem(retriever, FakePlanner()), GOLD)
