"""What two principals of the demo's policy get to see, over the real index."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from execution.guard.guard import SqlGuard
from nl2sql.types import ModuleRoute, Principal, SchemaContext, Violation
from retrieval.catalogs import IndexedCatalogs
from retrieval.search.retriever import HybridRetriever
from serve_app.composition.wiring import Wiring
from tests.fakes import build_question

BOSS = Principal("boss", ("analyst",))
MIA = Principal("mia", ("department_member",), (("department_id", 3),))
PRESS = Principal("press", ("public_reporting",))


@pytest.fixture
async def guarded(guarded_wiring: Wiring) -> AsyncIterator[tuple[HybridRetriever, SqlGuard]]:
    settings = guarded_wiring.settings
    store = guarded_wiring.build_index_store()
    guard = guarded_wiring.build_guard(IndexedCatalogs(store))
    embedder = guarded_wiring.models.build_embedder()
    yield HybridRetriever(store, embedder, guard, settings.retrieval, settings.flags), guard
    await store.close()


async def test_the_rows_that_are_left_are_told_where_that_is_set(
    guarded: tuple[HybridRetriever, SqlGuard], wiring: Wiring
) -> None:
    quiet, guard = guarded
    flags = wiring.settings.flags.model_copy(update={"policy_hints": True})
    store = wiring.build_index_store()
    retrieval = wiring.settings.retrieval
    telling = HybridRetriever(store, wiring.models.build_embedder(), guard, retrieval, flags)
    text = "Projects and budgets of departments"
    assert (await ask(quiet, MIA, text))[1].row_rules == ()
    _, context = await ask(telling, MIA, text)
    rules = dict(context.row_rules)
    assert rules["projects.projects"] == "department_id = 3"
    # Over the cost centre, which is told of no further.
    assert rules["finance.budgets"] == ""
    assert set(rules) <= {hit.table.qualified for hit in context.tables}
    assert (await ask(telling, BOSS, text))[1].row_rules == ()
    await store.close()


async def ask(
    retriever: HybridRetriever, principal: Principal, text: str
) -> tuple[ModuleRoute, SchemaContext]:
    question = build_question(text=text, database="demo_erp", principal=principal)
    return await retriever.retrieve(question)


async def test_each_sees_only_tables_columns_keys_and_modules_of_their_own(
    guarded: tuple[HybridRetriever, SqlGuard],
) -> None:
    retriever, guard = guarded
    for principal in (BOSS, MIA, PRESS):
        visible = await guard.visible_catalog("demo_erp", principal)
        assert not isinstance(visible, Violation)
        for text in ("Orders of customers in each city", "Salaries of employees by department"):
            route, context = await ask(retriever, principal, text)
            assert context.tables
            assert {hit.table for hit in context.tables} <= set(visible.tables)
            assert set(context.foreign_keys) <= {*visible.foreign_keys, *visible.inferred_keys}
            assert set(route.modules) <= {table.schema for table in visible.tables}
            assert all(hit.table.column(name) for hit in context.tables for name in hit.columns)


async def test_what_one_may_not_see_leaves_no_gap_in_the_ranks(
    guarded: tuple[HybridRetriever, SqlGuard],
) -> None:
    retriever, _ = guarded
    _, everything = await ask(retriever, BOSS, "customers and their contacts")
    assert "crm.customers" in {hit.table.qualified for hit in everything.tables}
    _, mine = await ask(retriever, MIA, "customers and their contacts")
    assert not {hit.table.qualified for hit in mine.tables} & {"crm.customers", "crm.contacts"}
    for ranks in (
        [hit.cosine_rank for hit in mine.tables],
        [hit.cosine_rank for hit in everything.tables],
    ):
        assert 1 in ranks
