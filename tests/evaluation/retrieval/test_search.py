"""What one question finds and misses, over fake stages."""

from __future__ import annotations

import pytest

from evaluation.retrieval.search import SearchSystem, Target, estimate_tokens, search
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


def build_system(*shown: str, wide: tuple[str, ...] = (), plan: Plan | None = None) -> SearchSystem:
    return SearchSystem(
        FakeRetriever(build_context(tables=shown)),
        FakeRetriever(build_context(tables=(*shown, *wide))),
        FakePlanner(plan),
    )


async def test_what_is_shown_and_what_comes_behind() -> None:
    system = build_system("sales.orders", "stock.products", wide=("sales.employees",))
    finding = await search(build_question(), system, GOLD)
    assert [table.table for table in finding.tables] == ["sales.orders", "stock.products"]
    assert finding.deeper == ("sales.employees",)
    assert finding.ranking[2] == "sales.employees"
    assert finding.modules == ("sales", "stock")
    assert finding.columns == len(SHOP.tables[3].columns) + len(SHOP.tables[4].columns)
    assert set(finding.stages_ms) == {"route and retrieve", "link and plan"}
    assert not finding.error


async def test_what_is_known_of_a_missed_table() -> None:
    question = build_question(text="Which customers have a return reason?")
    system = build_system("sales.orders", wide=("sales.customers",))
    finding = await search(question, system, GOLD)
    customers, returns = finding.missed_tables
    assert (customers.table, customers.rank, customers.cosine) == ("sales.customers", 2, 0.5)
    assert customers.neighbour == "sales.orders"
    assert customers.schema_shown
    assert customers.shared_words == ("customer",)
    assert (returns.table, returns.rank, returns.cosine) == ("stock.returns", None, None)
    assert not returns.schema_shown
    assert returns.shared_words == ("reason", "return")


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
    system = SearchSystem(retriever, FakeRetriever(), FakePlanner())
    finding = await search(build_question(), system, GOLD)
    assert "no such table" in finding.error
    assert [table.table for table in finding.missed_tables] == list(GOLD.tables)


async def test_an_index_that_is_gone_stops_the_run() -> None:
    retriever = FakeRetriever(IndexUnavailable("gone"))
    with pytest.raises(IndexUnavailable):
        await search(build_question(), SearchSystem(retriever, retriever, FakePlanner()), GOLD)


def test_tokens_of_nothing() -> None:
    assert estimate_tokens(build_context(), Plan()) > 100
    empty = build_context(tables=("sales.orders",), foreign_keys=())
    assert estimate_tokens(empty, Plan()) < estimate_tokens(build_context(), Plan())
