"""What a policy hides is in no plan, whichever way it is connected to what it shows."""

from __future__ import annotations

from dataclasses import replace

from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import parse_policy
from nl2sql.types import Plan, Principal
from retrieval.indexing import index_database
from retrieval.planner import SchemaPlanner
from retrieval.search.retriever import HybridRetriever
from tests.fakes import (
    SHOP,
    FakeCatalogs,
    FakeEmbedder,
    FakeIndexStore,
    build_question,
    build_settings,
)

# All keys but one are inferred: a clerk sees orders without their seller, and no customers.
CATALOG = replace(
    SHOP,
    foreign_keys=SHOP.foreign_keys[4:5],
    inferred_keys=tuple(
        replace(key, inferred=True) for key in (*SHOP.foreign_keys[:4], *SHOP.foreign_keys[5:])
    ),
)
POLICY = {
    "version": 1,
    "roles": {
        "boss": {"tables": {"visible": "*"}, "rows": "all"},
        "clerk": {
            "tables": {"visible": "*", "hidden": ["sales.customers"]},
            "rows": "all",
            "hidden_columns": ["sales.orders.seller_id"],
        },
    },
}
QUESTION = "orders with seller, employee and customer, their country and loyalty tier"


async def plan_as(role: str) -> Plan:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    await index_database(CATALOG, store, embedder)
    guard = SqlGuard(FakeCatalogs(CATALOG), {"shop": PolicySettings(parse_policy(POLICY))})
    settings = build_settings(retrieval={"pruning_min_tables": 0})
    retriever = HybridRetriever(store, embedder, guard, settings.retrieval, settings.flags)
    question = build_question(text=QUESTION, principal=Principal(role, (role,)))
    _, context = await retriever.retrieve(question)
    return await SchemaPlanner(settings.retrieval, settings.flags).plan(question, context)


async def test_who_sees_all_gets_joins_over_inferred_keys() -> None:
    plan = await plan_as("boss")
    assert {"sales.orders", "sales.customers"} <= set(plan.joins.tables)
    assert any(key.inferred for key in plan.joins.keys)


async def test_who_does_not_is_told_of_no_hidden_table_and_no_hidden_column() -> None:
    plan = await plan_as("clerk")
    assert any(link.table == "sales.orders" for link in plan.links.links)
    for hidden in ("customers", "seller_id", "country", "Loyalty"):
        assert hidden not in repr(plan)
