"""Feedback that is taken back leaves nothing of its own, and everything of others."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from nl2sql.types import Feedback, Principal
from retrieval.examples.feedback import FeedbackRecorder, FeedbackWithdrawal
from retrieval.index_store.feedback_store import FeedbackNote, FeedbackStore, build_note
from tests.retrieval.examples.conftest import Shop
from tests.retrieval.examples.test_feedback import ANN, BETTER, FLO, QUESTION, SQL, stored

# Sees the same as ann.
UMA = replace(ANN, name="uma")


async def say(
    shop: Shop,
    sql: str = SQL,
    *,
    correction: str = "",
    principal: Principal = ANN,
    question: str = QUESTION,
) -> FeedbackNote:
    """What is right, or with a correction wrong."""
    recorder = FeedbackRecorder(shop.store, shop.verifier(), shop.embedder, {"shop": "postgres"})
    feedback = Feedback("shop", question, sql, not correction, principal, correction)
    await recorder.take_feedback(feedback)
    return build_note(feedback, datetime.now(UTC))


async def withdraw(shop: Shop, note: FeedbackNote, dialect: str = "postgres") -> None:
    withdrawal = FeedbackWithdrawal(shop.store, {"shop": dialect} if dialect else {})
    found = await withdrawal.find(note.id)
    assert found is not None
    await withdrawal.withdraw(found)
    assert await withdrawal.find(note.id) is None


@pytest.mark.parametrize("correction", [BETTER, f"{BETTER} -- as agreed;"])
async def test_the_example_of_a_correction_goes(shop: Shop, correction: str) -> None:
    await say(shop, question="Which orders?")
    note = await say(shop, correction=correction)
    assert len(await stored(shop)) == 2
    await withdraw(shop, note)
    assert await stored(shop) == [SQL]
    assert [each.question for each in await FeedbackStore(shop.store).list_all("shop")] == [
        "Which orders?"
    ]


async def test_an_example_stays_while_somebody_else_of_the_same_access_gives_it(shop: Shop) -> None:
    first = await say(shop, correction=BETTER)
    second = await say(shop, BETTER.lower(), principal=UMA, question=f" {QUESTION.upper()} ")
    assert len(await stored(shop)) == 1
    await withdraw(shop, first)
    assert len(await stored(shop)) == 1
    await withdraw(shop, second)
    assert await stored(shop) == []


async def test_the_same_of_another_access_is_another_example(shop: Shop) -> None:
    note = await say(shop)
    await say(shop, principal=FLO)
    await withdraw(shop, note)
    (left,) = await shop.examples.list_examples("shop")
    assert left.given_by == "flo"


async def test_what_gives_no_example_is_taken_back_too(shop: Shop) -> None:
    await say(shop)
    note = await say(shop, "SELECT 1", correction=SQL)
    await withdraw(shop, note)
    # The first one gives it still.
    assert await stored(shop) == [SQL]


async def test_a_database_that_is_no_longer_served_keeps_its_examples(shop: Shop) -> None:
    note = await say(shop)
    await withdraw(shop, note, dialect="")
    assert await stored(shop) == [SQL]
    assert await FeedbackStore(shop.store).list_all("shop") == []
