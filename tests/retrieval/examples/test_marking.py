"""Parameters that a reviewer makes of values: which are proposed, and what they then answer."""

from __future__ import annotations

import pytest

from nl2sql.types import Principal
from retrieval.examples.feedback import FeedbackReceipt, FeedbackRecorder
from retrieval.examples.marking import mark_parameters, propose_parameters
from retrieval.index_store.feedback_store import Feedback
from tests.fakes import SHOP
from tests.retrieval.examples.conftest import Shop
from tests.retrieval.examples.test_verified_queries import ANN, find

BOSS = Principal("boss", ("boss",))
QUESTION = "How many shipped orders has Anna since 2024-05-01?"
QUERY = (
    "SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id"
    " WHERE o.status = 'shipped' AND c.name = 'Anna' AND o.placed_at >= DATE '2024-05-01'"
)


@pytest.mark.parametrize(
    ("question", "sql", "proposed"),
    [
        (
            QUESTION,
            QUERY,
            [
                ("status", "shipped", "text", "sales.orders.status"),
                ("customer", "Anna", "text", "sales.customers.name"),
                ("placed_at", "2024-05-01", "date", ""),
            ],
        ),
        (
            "Orders above 7 in Q3 2024",
            "SELECT 1 FROM orders WHERE total > 7 AND EXTRACT(QUARTER FROM placed_at) = 3"
            " AND EXTRACT(YEAR FROM placed_at) = 2024",
            [
                ("total", "7", "integer", ""),
                ("quarter", "3", "integer", ""),
                ("year", "2024", "integer", ""),
            ],
        ),
        # What a number means is not known without a column.
        ("The 5 best", "SELECT round(total, 5) FROM orders WHERE 5 = 5 LIMIT 5", []),
        # What is not said, is said twice, or is compared with two columns.
        ("How many?", "SELECT 1 FROM orders WHERE total > 7", []),
        ("7 of 7", "SELECT 1 FROM orders WHERE total > 7", []),
        ("Above 7", "SELECT 1 FROM orders WHERE total > 7 AND id > 7", []),
        # A text of which no column says it.
        ("From Anna", "SELECT 1 FROM orders WHERE lower(status) = 'Anna'", []),
        ("In 17 weeks", "SELECT 1 FROM orders WHERE total > 1", []),
        ("Above 1e5", "SELECT 1 FROM orders WHERE total > 1e5", []),
        # What stands elsewhere, too, or a name or a fixed date that may follow from it.
        ("Of 2023", "SELECT '2023', 1 FROM orders WHERE EXTRACT(YEAR FROM placed_at) = 2023", []),
        ("Of 2023", "SELECT 1 AS in_2023 FROM orders WHERE id = 2023", []),
        ("Of 2023", "SELECT 1 FROM orders WHERE id = 2023 AND id IN (2023)", []),
        ("To 2024", "SELECT 1 FROM orders WHERE id <= 2024 AND id BETWEEN 2023 AND 2024", []),
        ("Of 2023", "SELECT 1 FROM orders WHERE total = 2023 OR customer_id LIKE '2023%'", []),
        ("Of 2023", "SELECT 1 FROM orders WHERE id = 2023 OR id > 2022", []),
        ("In Q3", "SELECT 1 FROM orders WHERE id = 3 AND placed_at >= '2023-07-01'", []),
        ("Shipped", "SELECT 1 FROM orders WHERE status = 'Shipped' OR status LIKE 'shipped'", []),
        ("Shipped", "SELECT 1 FROM orders WHERE status = 'Shipped' OR status = 'sent'", []),
        # The same value of something that cannot be a parameter.
        (
            "Anna",
            "SELECT 1 FROM customers WHERE name = 'Anna' OR lower(name) = 'Anna'",
            [],
        ),
        # What is fixed, and of something else, does not keep a value from it.
        (
            "Shipped above 7",
            "SELECT 1 FROM orders WHERE total > 7 AND status = 'sent' LIMIT 5",
            [("total", "7", "integer", "")],
        ),
    ],
)
def test_values_that_a_column_is_compared_with_are_proposed(
    question: str, sql: str, proposed: list[tuple[str, ...]]
) -> None:
    found, _ = propose_parameters(question, sql, SHOP)
    told = [(each.name, each.phrase, each.parameter.type, each.parameter.column) for each in found]
    assert told == proposed
    assert mark_parameters(question, sql, found, SHOP.dialect).ask() == question


@pytest.mark.parametrize(
    ("question", "sql", "withheld"),
    [
        (
            "Shipped ones?",
            "SELECT 1 FROM orders WHERE status = 'SHP'",
            ("'SHP'", "the question does not say it"),
        ),
        (
            "7 of 7",
            "SELECT 1 FROM orders WHERE total > 7",
            ("7", "the question says it more than once"),
        ),
        (
            "Above 7",
            "SELECT 1 FROM orders WHERE total > 7 AND id > 7",
            ("7", "several columns are compared with it"),
        ),
        (
            "From Anna",
            "SELECT 1 FROM orders WHERE lower(status) = 'Anna'",
            ("'Anna'", "no column is compared with it as it is"),
        ),
        (
            "Of 2023",
            "SELECT 1 AS in_2023 FROM orders WHERE id = 2023",
            ("2023", "another part of the query holds it, or may follow from it"),
        ),
    ],
)
def test_why_a_value_is_no_parameter(question: str, sql: str, withheld: tuple[str, str]) -> None:
    assert propose_parameters(question, sql, SHOP) == ((), (withheld,))


async def give(
    shop: Shop, *parameters: str, principal: Principal = BOSS, silent: bool = False
) -> FeedbackReceipt:
    recorder = FeedbackRecorder(shop.store, shop.verifier(), shop.embedder, {"shop": SHOP.dialect})
    return await recorder.take_feedback(
        Feedback(
            "shop",
            QUESTION,
            QUERY,
            True,
            principal,
            is_reviewed=principal is BOSS,
            parameters=None if silent else parameters,
        )
    )


async def test_a_marked_query_answers_with_other_values_until_it_is_given_up(shop: Shop) -> None:
    asked = "How many shipped orders has Bert since 2024-06-01?"
    first = await give(shop)
    assert [each.name for each in first.proposed.offered] == ["status", "customer", "placed_at"]
    assert first.marked is not None
    assert "orders.status = :status" in first.marked.sql.replace("o.status", "orders.status")
    assert await find(shop, asked) is None
    assert (await give(shop, "customer", "placed_at")).outcome == "known"
    found = await find(shop, asked)
    assert found is not None
    assert found.label.endswith("with customer Bert, placed_at 2024-06-01")
    # As feedback it holds for those with the same rights.
    assert await find(shop, asked, ANN) is None
    [example] = await shop.examples.list_examples("shop")
    assert (example.question, example.sql) == (QUESTION, QUERY)
    # One more thumb up keeps them, and tells them.
    assert (await give(shop, silent=True)).chosen == {"customer", "placed_at"}
    assert await find(shop, asked) is not None
    # Given without parameters, it answers its own question only.
    await give(shop)
    assert await find(shop, asked) is None


async def test_only_what_was_proposed_is_marked(shop: Shop) -> None:
    assert (await give(shop, "customer", "price")).outcome == "refused"
    assert (await give(shop, principal=ANN)).proposed == ((), ())
    assert (await give(shop, "customer", principal=ANN)).outcome == "refused"
    examples = await shop.examples.list_examples("shop")
    assert {example.pattern for example in examples} == {""}
