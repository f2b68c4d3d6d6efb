"""Verified queries with parameters: from a file to an answer, for whom, and until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from nl2sql.catalog import Column, Table
from nl2sql.settings import RetrievalSettings
from nl2sql.types import Principal, VerifiedQuery, Violation
from retrieval.examples.pairs import Pair
from retrieval.examples.selector import ExampleSelector
from retrieval.index_store.feedback_store import Feedback, FeedbackStore, build_note
from retrieval.index_store.indexed_database import hash_shape
from retrieval.index_store.value_store import ValueColumn
from retrieval.values.search import IndexedValueSearch
from tests.fakes import build_question
from tests.retrieval.examples.conftest import Shop
from tests.retrieval.examples.test_importing import BOSS, bring_in
from tests.retrieval.values.builders import FakeMemory

ANN = Principal("ann", ("clerk",), (("country", "DE"),))
SELLER = Principal("sue", ("seller",), (("sellers", (1,)), ("since", "2024-01-01")))
NAMES = ValueColumn("sales.customers", "name", ("Anna", "Bert"))
SHIPPED = "SELECT COUNT(*) FROM orders WHERE status = 'shipped'"
TEXT = {"type": "text", "default": "open", "values": ["open", "shipped"]}
NAME = {"type": "text", "default": "Anna", "column": "sales.customers.name"}


def build_pair(**fields: Any) -> Pair:
    return Pair.model_validate(
        {
            "question": "How many :status orders are there?",
            "sql": "SELECT count(*) FROM orders WHERE status = :status",
            "title": "Orders of a status",
            "parameters": {"status": TEXT},
            "verified_by": "Mara",
            "verified_at": "2026-03-01",
        }
        | fields
    )


STATUS = build_pair()
CUSTOMER = build_pair(
    question="How many orders has :name?",
    phrasings=["Number of orders"],
    sql="SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id"
    " WHERE c.name = :name",
    parameters={"name": NAME},
)


def build_selector(shop: Shop) -> ExampleSelector:
    return ExampleSelector(shop.store, shop.embedder, shop.guard, shop.guard, RetrievalSettings())


async def find(
    shop: Shop, text: str, principal: Principal = BOSS, **asked: Any
) -> VerifiedQuery | None:
    catalog = await shop.guard.visible_catalog("shop", principal)
    assert not isinstance(catalog, Violation)
    selector = build_selector(shop)
    values = IndexedValueSearch(FakeMemory(NAMES), shop.guard, shop.guard, shop.executor)
    return await selector.find_verified(
        build_question(text=text, principal=principal, **asked), catalog, values
    )


async def test_a_part_of_a_conversation_has_none(shop: Shop) -> None:
    """The same words continue another question here."""
    await bring_in(shop, STATUS, STATUS.model_copy(update={"question": "And of :status?"}))
    assert await find(shop, "number of shipped orders", continues=True) is None
    assert await find(shop, "And of shipped?") is None


async def test_a_question_with_other_values_is_answered_and_labelled(shop: Shop) -> None:
    assert (await bring_in(shop, STATUS)).left_out == ()
    found = await find(shop, "number of shipped orders")
    assert found is not None
    assert found.sql == SHIPPED
    assert found.label == (
        "Verified by Mara on 2026-03-01: Orders of a status, with status shipped"
    )
    assert await find(shop, "number of cancelled orders") is None
    # With its default values it is an example like any other.
    [example] = await shop.examples.list_examples("shop")
    assert example.question == "How many open orders are there?"
    assert (await find(shop, "How many open orders are there?")) is not None


async def test_a_phrasing_without_a_parameter_has_its_default(shop: Shop) -> None:
    await bring_in(shop, CUSTOMER)
    found = await find(shop, "What is the number of orders?")
    assert found is not None
    assert found.parameters == (("name", "Anna"),)


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"title": "Other"}, "Verified by Mara on 2026-03-01: Other"),
        ({"verified_by": "Ida"}, "Verified by Ida on 2026-03-01: Orders of a status"),
        ({"verified_at": "2026-02-01"}, "Verified by Mara on 2026-02-01: Orders of a status"),
    ],
)
async def test_a_pair_that_changed_is_stored_again(
    shop: Shop, fields: dict[str, Any], label: str
) -> None:
    await bring_in(shop, STATUS)
    assert (await bring_in(shop, STATUS)).known == 1
    assert (await bring_in(shop, build_pair(**fields))).stored == 1
    found = await find(shop, "number of shipped orders")
    assert found is not None
    assert found.label == f"{label}, with status shipped"


async def test_pairs_with_one_question_are_all_kept(shop: Shop) -> None:
    """For several roles, and with other parameters but the same default question."""
    pairs = (
        STATUS,
        build_pair(roles=["boss"]),
        build_pair(roles=["seller"]),
        build_pair(
            question="How many open :what are there?",
            parameters={"what": TEXT | {"default": "orders", "values": ["orders"]}},
            sql="SELECT count(*) FROM orders WHERE status = 'open' AND 'orders' = :what",
        ),
        Pair(question="How many open orders are there?", sql="SELECT 1 FROM orders"),
    )
    for stored in (5, 0):
        report = await bring_in(shop, *pairs)
        assert (report.stored, report.known, report.left_out) == (stored, 5 - stored, ())
    assert len(await shop.examples.list_examples("shop")) == 5


@pytest.mark.parametrize(
    "corrected",
    [
        {"sql": "SELECT count(*) FROM orders WHERE status = :status AND total > 0"},
        {"parameters": {"status": TEXT | {"default": "shipped"}}},
    ],
)
async def test_a_corrected_pair_replaces_that_of_an_earlier_file(
    shop: Shop, corrected: dict[str, Any]
) -> None:
    """However old it says that it is; not that of other roles."""
    sellers = build_pair(sql=f"{STATUS.sql} AND true", roles=["seller"])
    await bring_in(shop, STATUS, sellers)
    changed = build_pair(**corrected, verified_at="2026-02-01")
    assert (await bring_in(shop, STATUS, changed)).stored == 1
    examples = await shop.examples.list_examples("shop")
    patterns = {each.pattern for each in examples}
    assert patterns == {sellers.write_pattern(), changed.write_pattern()}


async def test_of_two_pairs_of_one_question_the_last_counts(shop: Shop) -> None:
    for sql in ("SELECT 1 FROM orders", "SELECT 2 FROM orders", "SELECT 1 FROM orders"):
        first = Pair(question="How many orders?", sql="SELECT count(*) FROM orders")
        report = await bring_in(shop, first, Pair(question="how many  orders", sql=sql))
        assert [each.number for each in report.left_out] == [1]
        assert [each.sql for each in await shop.examples.list_examples("shop")] == [sql]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"question": "How many :statsu orders?"}, "'statsu', which is no parameter"),
        ({"question": "How many :s2 orders?"}, "'s', which is no parameter"),
        ({"sql": "SELECT (ARRAY['a', 'b'])[:status] FROM orders"}, "subscript"),
        ({"sql": "SELECT count(*) FROM orders"}, "'status'"),
        ({"question": "How many orders?"}, "each parameter once"),
        ({"phrasings": ["All of :state?"]}, "'state', which is no parameter"),
        ({"parameters": {"status": TEXT | {"values": [], "column": "sales.x.y"}}}, "no column"),
        ({"sql": "SELECT count(*) FROM orders WHERE status = :status; DROP TABLE x"}, "statement"),
        ({"sql": f"SELECT {'- ' * 1500}:status FROM orders"}, "not valid SQL: It is nested"),
    ],
)
async def test_a_pattern_that_is_wrong_is_left_out(
    shop: Shop, fields: dict[str, Any], told: str
) -> None:
    [left_out] = (await bring_in(shop, build_pair(**fields))).left_out
    assert told in left_out.reason


async def test_an_invalid_one_stops_no_other(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    await bring_in(shop, STATUS, CUSTOMER, build_pair(title="Bad", roles=["boss"]))
    for broken in (
        "{}",
        STATUS.write_pattern().replace('"parameters":{"status"', '"parameters":{"x"'),
    ):
        async with shop.store.connection() as connection:
            change = "UPDATE quorumsql.examples SET pattern = %s WHERE title = 'Bad'"
            await connection.execute(change, (broken,))
        assert await find(shop, "number of shipped orders") is not None
        assert "(Bad)" in caplog.text
        caplog.clear()


# -- for whom ----------------------------------------------------------------------------------


async def test_nobody_gets_a_query_whose_table_is_hidden(shop: Shop) -> None:
    """Neither its answer nor its title, its values or its question as a suggestion."""
    await bring_in(shop, CUSTOMER, STATUS)
    assert await find(shop, "How many orders has Anna?") is not None
    assert await find(shop, "How many orders has Anna?", SELLER) is None
    assert await find(shop, "number of orders", SELLER) is None
    assert await find(shop, "number of shipped orders", SELLER) is not None
    selector = build_selector(shop)
    catalog = await shop.guard.visible_catalog("shop", SELLER)
    assert not isinstance(catalog, Violation)
    suggested = await selector.list_latest("shop", SELLER, catalog, 9)
    assert [example.question for example in suggested] == ["How many open orders are there?"]


async def test_a_value_is_used_only_if_the_principal_may_see_it(shop: Shop) -> None:
    """Ann sees the customers of Germany: Bert, of France, is no value for her."""
    await bring_in(shop, CUSTOMER)
    assert await find(shop, "How many orders has Anna?", ANN) is not None
    assert await find(shop, "How many orders has Bert?", ANN) is None
    assert await find(shop, "How many orders has Bert?", BOSS) is not None


async def test_a_default_is_shown_only_to_those_who_may_see_it(shop: Shop) -> None:
    """Flo sees the customers of France: nothing tells her that the default is Anna."""
    await bring_in(shop, CUSTOMER)
    flo = Principal("flo", ("clerk",), (("country", "FR"),))
    selector, shown = build_selector(shop), {}
    for who in (BOSS, flo):
        catalog = await shop.guard.visible_catalog("shop", who)
        assert not isinstance(catalog, Violation)
        question = build_question(text=CUSTOMER.question, principal=who)
        examples = await selector.select(question, shop.embedder.embed([""])[0], catalog)
        suggested = await selector.list_latest("shop", who, catalog, 9)
        omitted = await find(shop, "Number of orders", who)
        shown[who.name] = [bool(each) for each in (examples, suggested, omitted)]
        # It is stored as the question with the default.
        assert bool(await find(shop, "How many orders has Anna?", who)) == (who is BOSS)
    assert shown == {"boss": [True] * 3, "flo": [False] * 3}
    assert await find(shop, "How many orders has Bert?", flo) is not None


async def test_roles_limit_it(shop: Shop) -> None:
    await bring_in(shop, build_pair(roles=["boss"]))
    assert await find(shop, "number of shipped orders") is not None
    assert await find(shop, "number of shipped orders", ANN) is None


async def test_what_somebody_called_wrong_answers_them_no_more(shop: Shop) -> None:
    await bring_in(shop, STATUS)
    asked = "number of shipped orders"
    note = build_note(Feedback("shop", asked, SHIPPED, False, ANN), datetime.now(UTC))
    await FeedbackStore(shop.store).record(note)
    assert await find(shop, asked, ANN) is None
    assert await find(shop, " Number of  shipped orders?", ANN) is None
    assert await find(shop, "number of open orders", ANN) is not None
    assert await find(shop, asked) is not None


# -- until when --------------------------------------------------------------------------------


async def index_orders(shop: Shop, *columns: str) -> None:
    """Writes the table as an index has it."""
    table = Table("sales", "orders", tuple(Column(name, "text") for name in columns))
    async with shop.store.connection() as connection:
        await connection.execute("DELETE FROM quorumsql.indexes WHERE database = 'shop'")
        await connection.execute(
            "INSERT INTO quorumsql.indexes VALUES ('shop', '', '', '', '', '{}', 1, 1, now(), '[]')"
        )
        await connection.execute(
            "INSERT INTO quorumsql.indexed_tables VALUES ('shop', 0, '{}', %s, %s)",
            (table.qualified, hash_shape(table)),
        )


async def test_it_expires_when_a_table_changes_its_columns(shop: Shop) -> None:
    await index_orders(shop, "id", "status")
    plain = Pair(question="How many orders are there?", sql="SELECT count(*) FROM orders")
    await bring_in(shop, STATUS, plain)
    # Those of an assistant read the tables of its database.
    given = [replace(each, database="view") for each in await shop.examples.list_examples("shop")]
    await shop.examples.put(given, np.ones((2, 64), np.float32), "")
    await index_orders(shop, "status", "id")
    assert [each.expired for each in await shop.examples.list_examples("view")] == [False, False]
    assert await find(shop, "number of shipped orders") is not None
    await index_orders(shop, "id", "status", "old_status")
    assert await find(shop, "number of shipped orders") is None
    assert await find(shop, plain.question) is None
    for database in ("shop", "view"):
        found = await shop.examples.list_examples(database)
        assert [each.expired for each in found] == [True, True]
    # Imported again, it is verified again.
    assert (await bring_in(shop, STATUS)).stored == 1
    assert await find(shop, "number of shipped orders") is not None
    async with shop.store.connection() as connection:
        await connection.execute("DELETE FROM quorumsql.indexes WHERE database = 'shop'")
