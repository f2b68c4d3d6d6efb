"""A right answer becomes an example, a wrong one is one no more, and it can be taken back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from nl2sql.types import Principal
from retrieval.examples.feedback import FeedbackReceipt, FeedbackRecorder
from retrieval.index_store.example_store import build_access_key
from retrieval.index_store.feedback_store import Feedback, FeedbackNote, FeedbackStore, build_note
from tests.retrieval.examples.conftest import Shop
from tests.retrieval.index_store.conftest import execute

ANN = Principal("ann", ("clerk",), (("country", "DE"),))
FLO = Principal("flo", ("clerk",), (("country", "FR"),))
QUESTION = "How many orders has Anna?"
SQL = "SELECT count(*) FROM orders"
BETTER = "SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id"


def build_recorder(shop: Shop) -> FeedbackRecorder:
    return FeedbackRecorder(shop.store, shop.verifier(), shop.embedder, {"shop": "postgres"})


async def say(
    shop: Shop,
    *,
    right: bool,
    sql: str = SQL,
    correction: str = "",
    principal: Principal = ANN,
    question: str = QUESTION,
    is_reviewed: bool = False,
) -> tuple[FeedbackReceipt, FeedbackNote]:
    """What is answered, and what is noted."""
    feedback = Feedback("shop", question, sql, right, principal, correction, is_reviewed)
    return await build_recorder(shop).take_feedback(feedback), build_note(
        feedback, datetime.now(UTC)
    )


async def stored(shop: Shop) -> list[str]:
    return [example.sql for example in await shop.examples.list_examples("shop")]


async def test_a_right_answer_is_an_example_of_who_said_so(shop: Shop) -> None:
    receipt, _ = await say(shop, right=True, sql=f"{SQL} -- mind the rules")
    [example] = await shop.examples.list_examples("shop")
    assert receipt == FeedbackReceipt("stored", example.id)
    assert (example.sql.lower(), example.masked) == (SQL.lower(), "How many orders has [name]?")
    assert (example.source, example.given_by) == ("feedback", "ann")
    assert (example.access, example.tables) == (build_access_key(ANN), ("sales.orders",))


async def test_what_continues_another_question_is_no_example(shop: Shop) -> None:
    """In another conversation the same words ask for something else."""
    receipt, _ = await say(shop, right=True, question="And how many has Acme?")
    assert (receipt.outcome, await stored(shop)) == ("refused", [])
    assert "Ask it in full" in receipt.reason
    receipt, _ = await say(shop, right=False, question="And how many has Acme?")
    assert receipt.outcome == "recorded"


async def test_said_again_it_changes_nothing(shop: Shop, index_url: str) -> None:
    first, _ = await say(shop, right=True)
    again, _ = await say(shop, right=True, sql="select COUNT(*) from orders")
    assert again == FeedbackReceipt("known", first.example)
    await say(shop, right=True)
    assert await stored(shop) == [SQL]
    told = execute(index_url, "SELECT sql, is_right FROM quorumsql.feedback")
    assert sorted(told) == sorted([(SQL, True), ("select COUNT(*) from orders", True)])


async def list_givers(shop: Shop) -> list[tuple[str, bool]]:
    """Who gave the examples, and whether as a reviewer; the latest last."""
    return [(each.given_by, each.reviewed) for each in await shop.examples.list_examples("shop")]


async def test_everybody_has_an_example_of_their_own(shop: Shop) -> None:
    await say(shop, right=True)
    assert (await say(shop, right=True, principal=UMA))[0].outcome == "stored"
    assert await list_givers(shop) == [("ann", False), ("uma", False)]
    # As a reviewer, and later than uma.
    await say(shop, right=True, is_reviewed=True)
    assert await list_givers(shop) == [("uma", False), ("ann", True)]


async def test_a_wrong_takes_back_only_what_its_sender_gave(shop: Shop) -> None:
    await say(shop, right=True, is_reviewed=True)
    assert (await say(shop, right=False, principal=UMA))[0].outcome == "recorded"
    assert await list_givers(shop) == [("ann", True)]
    await say(shop, right=True, principal=UMA)
    assert (await say(shop, right=False, principal=UMA))[0].outcome == "removed"
    assert await list_givers(shop) == [("ann", True)]


async def test_a_reviewers_wrong_takes_back_that_of_all_with_the_same_access(shop: Shop) -> None:
    for principal in (ANN, UMA, FLO):
        await say(shop, right=True, principal=principal)
    amy = replace(ANN, name="amy")
    receipt, _ = await say(shop, right=False, principal=amy, is_reviewed=True)
    assert receipt.outcome == "removed"
    assert await list_givers(shop) == [("flo", False)]


async def test_a_correction_takes_the_place_of_what_was_wrong(shop: Shop) -> None:
    await say(shop, right=True)
    receipt, _ = await say(shop, right=False, correction=BETTER)
    assert receipt.outcome == "stored"
    assert await stored(shop) == [BETTER]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT name FROM employees", "employees"),
        ('SELECT "Loyalty Tier" FROM customers', "Loyalty Tier"),
        ("DELETE FROM orders", "query"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("SELECT count(*) FROM orders WHERE status > 7", "operator does not exist"),
        ("SELECT ( FROM -- x", "not valid SQL"),
    ],
    ids=["hidden table", "hidden column", "no query", "two", "does not run", "no SQL"],
)
async def test_what_its_sender_may_not_run_is_refused_and_not_kept(
    shop: Shop, index_url: str, sql: str, said: str
) -> None:
    receipt, _ = await say(shop, right=True, sql=sql)
    assert receipt.outcome == "refused"
    assert said in receipt.reason
    assert await stored(shop) == []
    assert execute(index_url, "SELECT count(*) FROM quorumsql.feedback") == [(0,)]
    assert (await say(shop, right=False, sql=sql))[0].outcome == "recorded"


async def test_a_wrong_answer_stays_one_when_its_correction_is_refused(shop: Shop) -> None:
    await say(shop, right=True)
    receipt, _ = await say(shop, right=False, correction="SELECT name FROM employees")
    assert receipt.outcome == "refused"
    assert await stored(shop) == [SQL]


# Sees the same as ann.
UMA = replace(ANN, name="uma")


async def withdraw(shop: Shop, note: FeedbackNote) -> None:
    notes = FeedbackStore(shop.store)
    found = await notes.find(note.id)
    assert found is not None
    await build_recorder(shop).withdraw(found)
    assert await notes.find(note.id) is None


@pytest.mark.parametrize("correction", [BETTER, f"{BETTER} -- as agreed;"])
async def test_the_example_of_a_correction_goes(shop: Shop, correction: str) -> None:
    await say(shop, right=True, question="Which orders?")
    _, note = await say(shop, right=False, correction=correction)
    assert len(await stored(shop)) == 2
    await withdraw(shop, note)
    assert await stored(shop) == [SQL]
    assert [each.question for each in await FeedbackStore(shop.store).list_all("shop")] == [
        "Which orders?"
    ]


async def test_an_example_stays_while_its_giver_gives_it_in_other_feedback(shop: Shop) -> None:
    _, first = await say(shop, right=False, correction=BETTER)
    _, second = await say(shop, right=True, sql=BETTER.lower(), question=f" {QUESTION.upper()} ")
    assert len(await stored(shop)) == 1
    await withdraw(shop, first)
    assert len(await stored(shop)) == 1
    await withdraw(shop, second)
    assert await stored(shop) == []
