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
