"""Parameters that a reviewer makes of values: which are proposed, and what they then answer."""

from __future__ import annotations

import pytest

from nl2sql.types import Principal
from retrieval.examples.feedback import FeedbackReceipt, FeedbackRecorder
from retrieval.examples.marking import mark_parameters, propose_parameters
from retrieval.index_store.feedback_store import Feedback
from tests.fakes import SHOP
from tests.golden import Pair, load_pairs
from tests.retrieval.examples.conftest import Shop
from tests.retrieval.examples.test_verified_queries import ANN, find

BOSS = Principal("boss", ("boss",))
QUESTION = "How many shipped orders has Anna since 2024-05-01?"
QUERY = (
    "SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id"
    " WHERE o.status = 'shipped' AND c.name = 'Anna' AND o.placed_at >= DATE '2024-05-01'"
)


@pytest.mark.parametrize("case", load_pairs("proposed_parameters"), ids=lambda case: case.title)
def test_values_that_a_column_is_compared_with_are_proposed_or_it_is_told_why_not(
    case: Pair,
) -> None:
    found, withheld = propose_parameters(case.title, case.before, SHOP)
    proposed = [
        f"{each.name}: {each.phrase}, {each.parameter.type} {each.parameter.column}".rstrip()
        for each in found
    ]
    told = [f"{value}: no, {reason}" for value, reason in withheld]
    assert [*proposed, *told] == case.after.splitlines()
    assert mark_parameters(case.title, case.before, found, SHOP.dialect).ask() == case.title


def test_values_of_a_query_with_very_many_are_not_all_looked_for() -> None:
    values = list(map(str, range(100, 500)))
    sql = f"SELECT 1 FROM t WHERE {' OR '.join(f'e = {value}' for value in values)}"
    offered, withheld = propose_parameters(" ".join(values), sql, SHOP)
    assert len(offered) == 50
    assert [reason for _, reason in withheld] == ["the query holds too many values"] * 350


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
