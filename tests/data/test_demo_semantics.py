"""The demo's definitions and synonyms fit its schema, values, guard and policy."""

from __future__ import annotations

import json

import pytest

from data.demo_erp import DEFINITION_QUESTIONS
from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import load_policy
from nl2sql.types import Principal
from retrieval.index_store.value_store import ValueStore
from retrieval.semantics.resolution import resolve_definitions
from retrieval.semantics.semantics_file import load_semantics
from retrieval.vocabulary.terms import check_synonyms, load_synonyms
from serve_app.composition.wiring import Wiring
from serve_app.operations.semantics import check_definitions
from tests.conftest import ROOT
from tests.data.test_business_questions import run_golds

DEMO = ROOT / "data" / "demo_erp"
FILE = load_semantics(DEMO / "semantics.yaml")


QUESTIONS = [json.loads(line) for line in DEFINITION_QUESTIONS.read_text().splitlines()]


async def test_the_golds_of_these_questions_have_rows(wiring: Wiring) -> None:
    golds = [{**each, "query": [each["query"]]} for each in QUESTIONS]
    assert await run_golds(wiring, "demo_erp", golds, 1) == set()


async def test_twenty_definitions_fit(wiring: Wiring) -> None:
    catalog = wiring.source("demo_erp").read_catalog()
    count, problems = await check_definitions(wiring, FILE, catalog)
    assert [FILE.describe(problem) for problem in problems] == []
    assert count == 20


@pytest.mark.parametrize(
    ("role", "attributes", "hidden"),
    [
        ("analyst", (), set()),
        (
            "department_member",
            (("department_id", 3),),
            {
                *("order intake", "revenue", "product sales", "units sold", "discounts granted"),
                *("personnel cost", "weighted pipeline", "scrap rate", "active customers"),
                *("overdue invoices", "key suppliers"),
            },
        ),
    ],
)
def test_a_role_is_shown_only_what_it_may_read(
    wiring: Wiring, role: str, attributes: tuple[tuple[str, int], ...], hidden: set[str]
) -> None:
    catalog = wiring.source("demo_erp").read_catalog()
    policy = CompiledPolicy(load_policy(DEMO / "policy.yaml"), catalog)
    access = policy.access(Principal("ann", (role,), attributes))
    assert isinstance(access, Access)
    resolved, _ = resolve_definitions(FILE, catalog)
    shown = {each.name for each in resolved if each.build(access.catalog) is not None}
    assert {each.name for each in resolved} - shown == hidden
    # By the other way round: a table that the role does not see hides what reads it.
    assert shown == {each.name for each in resolved if all(map(access.catalog.table, each.tables))}


async def test_every_name_and_value_of_the_synonyms_is_there(wiring: Wiring) -> None:
    synonyms = load_synonyms(DEMO / "synonyms.yaml")
    check_synonyms(synonyms, wiring.source("demo_erp").read_catalog())
    store = wiring.build_index_store()
    stored = {
        column.qualified: set(column.values)
        for column in await ValueStore(store).load("demo_erp", 10**6)
    }
    await store.close()
    for column, values in synonyms.values.items():
        assert set(values) <= stored[column]
