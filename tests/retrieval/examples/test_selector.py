"""Which examples a principal is shown, on a real PostgreSQL and under a real policy."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from execution.guard.guard import SqlGuard
from nl2sql.catalog import Catalog
from nl2sql.settings import RetrievalSettings
from nl2sql.types import FewShot, Principal, Violation
from retrieval.examples.records import build_example, name_vectors
from retrieval.examples.selector import ExampleSelector
from retrieval.index_store.example_store import VerifiedExample, build_access_key
from retrieval.index_store.feedback_store import Feedback, FeedbackStore, build_note
from tests.fakes import build_question
from tests.retrieval.examples.conftest import Shop

BOSS = Principal("boss", ("boss",))
ANN = Principal("ann", ("clerk",), (("country", "DE"),))
AMY = Principal("amy", ("clerk",), (("country", "DE"),))
FLO = Principal("flo", ("clerk",), (("country", "FR"),))
SELLER = Principal("sue", ("seller",), (("sellers", (1,)), ("since", "2024-01-01")))

ORDERS = "SELECT count(*) FROM orders"
CUSTOMERS = "SELECT name FROM customers WHERE country = 'DE'"
TIERS = 'SELECT "Loyalty Tier" FROM customers'
EMPLOYEES = "SELECT name FROM employees"


def example(
    question: str,
    sql: str,
    *tables: str,
    by: Principal | None = None,
    roles: tuple[str, ...] = (),
    reviewed: bool = False,
    day: int = 1,
) -> VerifiedExample:
    return build_example(
        "shop",
        question,
        sql,
        tables,
        dialect="postgres",
        source="feedback" if by else "file",
        given_by=by.name if by else "tester",
        access=build_access_key(by) if by else "",
        roles=roles,
        created_at=datetime(2026, 3, day, tzinfo=UTC),
        reviewed=reviewed,
    )


async def put(shop: Shop, *examples: VerifiedExample) -> None:
    vectors = shop.embedder.embed([example.masked for example in examples])
    await shop.examples.put(examples, vectors, name_vectors(shop.embedder.name))


async def build_selector(
    shop: Shop, principal: Principal, guard: SqlGuard, **settings: Any
) -> tuple[ExampleSelector, Catalog]:
    catalog = await guard.visible_catalog("shop", principal)
    assert not isinstance(catalog, Violation)
    chosen = RetrievalSettings(**settings)
    return ExampleSelector(shop.store, shop.embedder, guard, guard, chosen), catalog


async def select(
    shop: Shop,
    principal: Principal,
    text: str = "How many orders are there?",
    *,
    guard: SqlGuard | None = None,
    **settings: Any,
) -> tuple[FewShot, ...]:
    settings = {"example_min_similarity": -1, **settings}
    selector, catalog = await build_selector(shop, principal, guard or shop.guard, **settings)
    question = build_question(text=text, principal=principal)
    return await selector.select(question, shop.embedder.embed([text])[0], catalog)


async def list_latest(shop: Shop, principal: Principal) -> list[str]:
    """The queries of the latest examples that the principal may see."""
    selector, catalog = await build_selector(shop, principal, shop.guard)
    return queries(await selector.list_latest("shop", principal, catalog, 9))


async def find_verified(
    shop: Shop,
    principal: Principal,
    text: str = "how many  ORDERS are there",
    *,
    guard: SqlGuard | None = None,
    evidence: str = "",
    **settings: Any,
) -> str:
    """The query that is verified for the question; empty if there is none."""
    selector, catalog = await build_selector(shop, principal, guard or shop.guard, **settings)
    question = build_question(text=text, principal=principal, evidence=evidence)
    found = await selector.find_verified(question, catalog)
    return found.sql if found else ""


def queries(found: tuple[FewShot, ...]) -> list[str]:
    return [example.sql for example in found]


# -- who is shown what -------------------------------------------------------------------------


async def test_no_example_reads_a_hidden_table_or_column(shop: Shop) -> None:
    await put(
        shop,
        example("How many orders are there?", ORDERS, "sales.orders"),
        example("How many employees are there?", EMPLOYEES, "sales.employees"),
        # The guard decides where the store knows no tables.
        example("How many loyalty tiers are there?", TIERS),
    )
    assert queries(await select(shop, ANN)) == await list_latest(shop, ANN) == [ORDERS]
    assert set(queries(await select(shop, BOSS))) == {ORDERS, EMPLOYEES, TIERS}
    assert set(queries(await select(shop, SELLER))) == {ORDERS, EMPLOYEES}


async def test_of_equally_similar_examples_the_latest_comes_first(shop: Shop) -> None:
    for days in ((1, 2, 3), (3, 2, 1)):
        await put(
            shop, *(example(f"Orders of {day}?", f"SELECT {day} AS n", day=day) for day in days)
        )
        found = await select(shop, BOSS, "Orders of 7?")
        assert queries(found) == [f"SELECT {day} AS n" for day in (3, 2, 1)]


async def test_feedback_is_shown_under_the_same_access_only(shop: Shop) -> None:
    """Rows of another country stand in a question that somebody asked."""
    await put(shop, example("How many orders has Anna of Ulm?", ORDERS, "sales.orders", by=ANN))
    shown = await select(shop, ANN)
    assert [example.question for example in shown] == ["How many orders has Anna of Ulm?"]
    assert await select(shop, AMY) == shown
    assert await select(shop, FLO) == ()
    assert await select(shop, BOSS) == ()
    assert [len(await list_latest(shop, who)) for who in (ANN, AMY, FLO, BOSS)] == [1, 0, 0, 0]


async def test_without_a_policy_feedback_is_everybodys(shop: Shop) -> None:
    await put(shop, example("How many orders has Anna?", ORDERS, "sales.orders", by=ANN))
    assert queries(await select(shop, FLO, guard=shop.open_guard)) == [ORDERS]


async def test_roles_of_a_file_hold_with_a_policy_and_without(shop: Shop) -> None:
    await put(shop, example("How many orders?", ORDERS, "sales.orders", roles=("boss", "seller")))
    for guard in (shop.guard, shop.open_guard):
        assert queries(await select(shop, BOSS, guard=guard)) == [ORDERS]
        assert await select(shop, ANN, guard=guard) == ()
    nobody = Principal("local")
    assert await select(shop, nobody, guard=shop.open_guard) == ()


async def test_no_query_of_a_hidden_column_starves_the_search_either(shop: Shop) -> None:
    hidden = [
        example(f"How many orders {at}?", f"{TIERS} WHERE id = {at}", "sales.customers")
        for at in range(40)
    ]
    await put(shop, *hidden, example("Which customers?", CUSTOMERS, "sales.customers"))
    assert queries(await select(shop, ANN, "How many orders?")) == [CUSTOMERS]


# -- which of them -----------------------------------------------------------------------------


async def test_the_nearest_in_form_comes_first_whoever_is_named(shop: Shop) -> None:
    await put(
        shop,
        example("How many orders came from France in 2023?", ORDERS, "sales.orders"),
        example("Which customers are there in Germany?", CUSTOMERS, "sales.customers"),
    )
    found = await select(shop, BOSS, "How many orders came from Germany in 2024?", examples=1)
    assert found == (FewShot("How many orders came from France in 2023?", ORDERS, 1.0),)


async def test_no_two_examples_have_the_same_query(shop: Shop) -> None:
    await put(
        shop,
        example("How many orders are there?", ORDERS, "sales.orders"),
        example("How many orders are there in all?", "select COUNT(*) from orders"),
        example("Which customers?", CUSTOMERS, "sales.customers"),
    )
    assert queries(await select(shop, BOSS)) == [ORDERS, CUSTOMERS]


async def test_what_is_not_alike_is_not_shown(shop: Shop) -> None:
    await put(shop, example("Which customers?", CUSTOMERS, "sales.customers"))
    assert await select(shop, BOSS, "How many orders?", example_min_similarity=0.9) == ()


async def test_the_very_question_can_be_left_out(shop: Shop) -> None:
    await put(
        shop,
        example("How many orders are there?", ORDERS, "sales.orders"),
        example("How many customers are there?", CUSTOMERS, "sales.customers"),
    )
    text = " how many ORDERS are there "
    assert set(queries(await select(shop, BOSS, text))) == {ORDERS, CUSTOMERS}
    assert queries(await select(shop, BOSS, text, same_question=False)) == [CUSTOMERS]


@pytest.mark.parametrize("question", ["'; DROP TABLE quorumsql.examples; --", "{dimensions}", "%s"])
async def test_text_is_only_ever_a_value(shop: Shop, question: str) -> None:
    await put(shop, example(question, ORDERS, "sales.orders"))
    found = await select(shop, BOSS, question)
    assert [example.question for example in found] == [question]


# -- the query that was given for the very question --------------------------------------------

ASKED = "How many orders are there?"
OTHER = "SELECT count(*) FROM orders WHERE total > 1"


async def test_the_very_question_has_its_verified_query(shop: Shop) -> None:
    await put(shop, example(ASKED, ORDERS, "sales.orders"))
    assert await find_verified(shop, ANN) == ORDERS
    assert await find_verified(shop, ANN, "How many orders are there today?") == ""
    assert await find_verified(shop, ANN, evidence="Only large ones.") == ""
    assert await find_verified(shop, ANN, same_question=False) == ""
    assert await find_verified(shop, ANN, examples=0) == ""


async def test_of_others_only_what_a_reviewer_gave_answers(shop: Shop) -> None:
    await put(shop, example(ASKED, ORDERS, "sales.orders", by=ANN))
    assert await find_verified(shop, ANN) == ORDERS
    assert await find_verified(shop, AMY) == ""
    assert await list_latest(shop, AMY) == []
    await put(shop, example(ASKED, ORDERS, "sales.orders", by=ANN, reviewed=True))
    assert await find_verified(shop, AMY) == ORDERS
    assert await list_latest(shop, AMY) == [ORDERS]
    assert await list_latest(shop, FLO) == []
    # Under another access it may name what one may not see.
    assert await find_verified(shop, FLO) == ""
    assert await find_verified(shop, FLO, guard=shop.open_guard) == ORDERS


async def test_the_latest_that_the_guard_passes_is_the_verified_query(shop: Shop) -> None:
    await put(
        shop,
        example(ASKED, ORDERS, "sales.orders", day=1, by=ANN),
        example(ASKED, OTHER, "sales.orders", day=2, by=ANN),
        example(ASKED, EMPLOYEES, day=3),
    )
    assert await find_verified(shop, ANN) == OTHER
    assert await find_verified(shop, BOSS) == EMPLOYEES


async def test_what_somebody_called_wrong_answers_them_no_more(shop: Shop) -> None:
    await put(shop, example(ASKED, ORDERS, "sales.orders"))
    said = Feedback("shop", ASKED, ORDERS, False, ANN)
    await FeedbackStore(shop.store).record(build_note(said, datetime.now(UTC)))
    assert await find_verified(shop, ANN) == ""
    assert await find_verified(shop, AMY) == ORDERS
