"""Turns of sessions and the history of conversations on a real PostgreSQL: whose, how long."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.answers import Answer, Answered, Clarify, Failed, Refused, Trace
from nl2sql.errors import InvalidRequest
from nl2sql.settings.pipeline import SessionSettings
from nl2sql.types import Interpretation, Principal, Question, Turn
from retrieval.conversations import GuardedConversations, WholeConversation, identify_owner
from retrieval.cursors import write_cursor
from retrieval.index_store.store import IndexStore
from tests.fakes import (
    FakeGuard,
    build_question,
    build_result,
    build_violation,
)
from tests.retrieval.index_store.conftest import execute, index_url, store

__all__ = ["index_url", "store"]

ANN = Principal("ann", ("clerk",), (("region", 1),))
SHOP = ("shop",)
OFFERED = (Interpretation("SELECT 2", "two", 0.5), Interpretation("SELECT 3", "three", 0.5))
FIRST = Turn("How many orders?", "answered", "SELECT 1")
SECOND = Turn("What was spent?", "clarify", interpretations=("SELECT 2", "SELECT 3"))


def ask(text: str = "How many orders?", **more: Any) -> Question:
    return build_question(**{"text": text, "principal": ANN, "session": "s", **more})


def answer(question: Question, sql: str = "SELECT 1", asked: str = "") -> Answered:
    return Answered(sql, build_result(("Zacharias",)), 1.0, True, Trace(question, asked=asked))


def build(
    store: IndexStore, guard: FakeGuard | None = None, **settings: int
) -> GuardedConversations:
    return GuardedConversations(store, guard or FakeGuard(), SessionSettings(**settings))


async def record_both(conversations: GuardedConversations) -> None:
    """What is recalled as FIRST and SECOND."""
    await conversations.record(ask(), answer(ask()))
    unsure = ask("What was spent?")
    await conversations.record(unsure, Clarify("Which?", 0.4, OFFERED, Trace(unsure)))


async def load(conversations: GuardedConversations, session: str = "s") -> WholeConversation:
    found = await conversations.load(ANN, SHOP, session)
    assert found is not None
    return found


async def list_sessions(conversations: GuardedConversations, who: Principal = ANN) -> list[str]:
    page, following = await conversations.list_latest(who, SHOP, search="", after="", most=50)
    assert following == ""
    return [each.session for each in page]


async def test_each_kind_of_answer_is_kept_with_its_outcome(store: IndexStore) -> None:
    conversations = build(store)
    question = ask()
    answers: list[Answer] = [
        answer(question),
        Refused("off_topic", "No.", Trace(question)),
        Clarify("Unsure.", 0.1, (), Trace(question)),
        Failed("Broken.", Trace(question)),
    ]
    for each in answers:
        await conversations.record(question, each)
    turns = (await load(conversations)).turns
    assert [turn.outcome for turn in turns] == ["answered", "refused", "clarify", "failed"]
    assert [turn.sql for turn in turns] == ["SELECT 1", "", "", ""]
    assert {turn.question for turn in turns} == {"How many orders?"}
    sure = [(turn.confidence, turn.quorum, turn.origin) for turn in turns]
    assert sure == [(1.0, True, ""), *[(None, None, "")] * 3]


async def test_a_completed_question_is_kept_with_a_query_alone(store: IndexStore) -> None:
    conversations, whole = build(store), ask("How many orders in 2024?")
    asked = ask("And in 2024?")
    await conversations.record(asked, answer(whole, asked="And in 2024?"))
    await conversations.record(asked, Failed("Broken.", Trace(whole, asked="And in 2024?")))
    turns = (await load(conversations)).turns
    assert [turn.question for turn in turns] == ["And in 2024?"] * 2
    assert [turn.rewritten for turn in turns] == ["How many orders in 2024?", ""]


async def test_no_cell_is_kept(store: IndexStore, index_url: str) -> None:
    await build(store).record(ask(), answer(ask()))
    kept = execute(
        index_url,
        "SELECT c::text, t::text FROM quorumsql.conversations c, quorumsql.conversation_turns t",
    )
    assert "How many orders?" in str(kept)
    assert "Zacharias" not in str(kept)


@pytest.mark.parametrize(
    "other",
    [
        Principal("bob", ANN.roles, ANN.attributes),
        Principal("ann", (), ANN.attributes),
        Principal("ann", ("clerk", "boss"), ANN.attributes),
        Principal("ann", ANN.roles, (("region", 2),)),
    ],
)
async def test_it_belongs_to_a_name_with_its_rights(store: IndexStore, other: Principal) -> None:
    conversations = build(store)
    await conversations.record(ask(), answer(ask()))
    assert await list_sessions(conversations, other) == []
    assert await conversations.load(other, SHOP, "s") is None
    assert await conversations.recall(ask(principal=other)) == ()
    assert await conversations.delete(other, "s") == await conversations.delete(other) == (0, 0)
    assert await list_sessions(conversations) == ["s"]


async def test_a_query_that_the_guard_refuses_now_is_withheld_alone(store: IndexStore) -> None:
    writing = build(store)
    await writing.record(ask(), answer(ask(), "SELECT 1"))
    await writing.record(ask(), answer(ask("What of Zacharias?"), "SELECT 2", asked="And?"))
    guard = FakeGuard({"SELECT 2": build_violation("not_permitted")})
    found = await load(build(store, guard))
    assert [turn.sql for turn in found.turns] == ["SELECT 1", ""]
    assert [turn.rewritten for turn in found.turns] == ["", ""]
    assert found.withheld == {found.turns[1].number}
    assert {(database, who) for database, _, who in guard.guarded} == {("shop", ANN)}


async def test_what_expires_is_deleted_of_all_owners(store: IndexStore, index_url: str) -> None:
    conversations, bob = build(store), Principal("bob")
    for session in ("a", "b"):
        await conversations.record(ask(session=session), answer(ask()))
    await conversations.record(ask(session="a", principal=bob), answer(ask()))
    execute(
        index_url,
        "UPDATE quorumsql.conversations SET asked_at = now() - interval '9 days'"
        f" WHERE (owner, session) <> ('{identify_owner(ANN)}', 'a')",
    )
    # Another process, which has pruned nothing yet.
    assert await list_sessions(build(store, history_days=8)) == ["a"]
    left = execute(index_url, "SELECT session FROM quorumsql.conversations")
    assert left == [("a",)]
    assert execute(index_url, "SELECT count(*) FROM quorumsql.conversation_turns") == [(1,)]


async def test_an_operator_deletes_any_conversation(store: IndexStore) -> None:
    conversations = build(store)
    for session in ("a", "b", "b"):
        await conversations.record(ask(session=session), answer(ask()))
    assert await conversations.delete(None, "elsewhere") == (0, 0)
    assert await conversations.delete(None, "b") == (1, 2)
    assert await list_sessions(conversations) == ["a"]
    assert await conversations.delete(None) == (1, 1)
    assert await list_sessions(conversations) == []


async def test_odd_texts_are_kept_as_far_as_can_be(store: IndexStore) -> None:
    conversations = build(store)
    odd = "a\0b \ud800 “ü”\n'; DROP TABLE x; --"
    await conversations.record(ask(odd), answer(ask(), "SELECT '\0'"))
    found = await load(conversations)
    (turn,) = await conversations.recall(ask())
    assert turn.question == found.turns[0].question == "ab ? “ü”\n'; DROP TABLE x; --"
    assert found.conversation.title == "ab ? “ü” '; DROP TABLE x; --"
    assert turn.sql == found.turns[0].sql == "SELECT ''"


# -- for follow-up questions -------------------------------------------------------------------


async def test_a_session_is_recalled_in_order_on_its_database(store: IndexStore) -> None:
    conversations = build(store)
    assert await conversations.recall(ask()) == ()
    await record_both(conversations)
    assert await conversations.recall(ask()) == (FIRST, SECOND)
    assert await conversations.recall(ask(session="t")) == ()
    assert await conversations.recall(ask(database="erp")) == ()
    assert await conversations.delete(ANN, "t") == (0, 0)
    assert await conversations.delete(ANN, "s") == (1, 2)
    assert await conversations.recall(ask()) == ()


async def test_what_is_recalled_is_the_whole_question_and_no_refused_one(store: IndexStore) -> None:
    conversations, whole = build(store), ask("How many orders in 2024?")
    asked = ask("And in 2024?")
    await conversations.record(asked, answer(whole, asked="And in 2024?"))
    await conversations.record(ask("Hello"), Refused("off_topic", "No.", Trace(ask("Hello"))))
    await conversations.record(ask("Broken?"), Failed("Broken.", Trace(ask("Broken?"))))
    assert await conversations.recall(ask()) == (
        Turn("How many orders in 2024?", "answered", "SELECT 1"),
        Turn("Broken?", "failed"),
    )


async def test_the_last_turns_of_a_day_are_recalled_also_without_a_history(
    store: IndexStore, index_url: str
) -> None:
    conversations = build(store, history_days=0)
    for number in range(7):
        question = ask(f"Question {number}?")
        await conversations.record(question, Failed("Broken.", Trace(question)))
    recalled = await conversations.recall(ask())
    assert [turn.question for turn in recalled] == [f"Question {at}?" for at in range(2, 7)]
    assert await list_sessions(conversations) == []
    for table in ("conversations", "conversation_turns"):
        execute(index_url, f"UPDATE quorumsql.{table} SET asked_at = now() - interval '25 hours'")
    assert await conversations.recall(ask()) == ()
    # Another process, which has pruned nothing yet.
    await build(store, history_days=0).record(ask(session="u"), answer(ask()))
    assert execute(index_url, "SELECT session FROM quorumsql.conversation_turns") == [("u",)]


@pytest.mark.parametrize("refused", ["SELECT 1", "SELECT 3"], ids=["query", "reading"])
async def test_a_session_with_a_query_that_is_refused_now_is_not_recalled(
    store: IndexStore, refused: str
) -> None:
    await record_both(build(store))
    guard = FakeGuard({refused: build_violation("not_permitted")})
    assert await build(store, guard).recall(ask()) == ()
    assert {who for _, _, who in guard.guarded} == {ANN}


async def test_a_query_that_would_fill_the_prompt_is_not_kept(store: IndexStore) -> None:
    conversations = build(store)
    await conversations.record(ask(), answer(ask(), "SELECT " + "1, " * 5000))
    assert await conversations.recall(ask()) == ()


@pytest.mark.parametrize(
    "after",
    [
        "W10",
        write_cursor("2024-01-01", "s"),
        write_cursor("0001-01-01T00:00:00+23:59", "s"),
        write_cursor("2024-01-01T00:00:00+00:00", "a\0b"),
    ],
)
async def test_a_cursor_of_another_origin_is_refused(store: IndexStore, after: str) -> None:
    with pytest.raises(InvalidRequest):
        await build(store).list_latest(ANN, SHOP, search="", after=after, most=5)
