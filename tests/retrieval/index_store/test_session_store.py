"""Turns as they are kept, on a real PostgreSQL: whose, how many, how long."""

from __future__ import annotations

import pytest

from nl2sql.errors import IndexUnavailable
from nl2sql.settings.conversation import SessionSettings
from nl2sql.types import Principal, Question, Turn
from retrieval.conversations import GuardedSessions
from retrieval.index_store.store import IndexStore
from tests.fakes import FakeGuard, build_question, build_violation
from tests.retrieval.index_store.conftest import execute

ANN = Principal("ann", ("clerk",), (("region", 1),))
FIRST = Turn("How many orders?", "answered", "SELECT 1")
SECOND = Turn("What was spent?", "clarify", interpretations=("SELECT 2", "SELECT 3"))


def ask(principal: Principal = ANN, session: str = "s", database: str = "shop") -> Question:
    return build_question(principal=principal, session=session, database=database)


def build(store: IndexStore, guard: FakeGuard | None = None, **settings: int) -> GuardedSessions:
    return GuardedSessions(store, guard or FakeGuard(), SessionSettings(**settings))


async def test_turns_come_back_in_order(store: IndexStore) -> None:
    sessions = build(store)
    assert await sessions.recall(ask()) == ()
    for turn in (FIRST, SECOND):
        await sessions.remember(ask(), turn)
    assert await sessions.recall(ask()) == (FIRST, SECOND)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(ask(session="t"), id="another_session"),
        pytest.param(ask(database="erp"), id="another_database"),
        pytest.param(ask(Principal("bob", ANN.roles, ANN.attributes)), id="another_name"),
        pytest.param(ask(Principal("ann", (), ANN.attributes)), id="fewer_roles"),
        pytest.param(ask(Principal("ann", ("clerk", "boss"), ANN.attributes)), id="more_roles"),
        pytest.param(ask(Principal("ann", ANN.roles, (("region", 2),))), id="other_attributes"),
    ],
)
async def test_a_session_is_seen_by_nobody_else(store: IndexStore, other: Question) -> None:
    sessions = build(store)
    await sessions.remember(ask(), FIRST)
    assert await sessions.recall(other) == ()
    await sessions.forget(other.principal, "t" if other.session == "t" else "elsewhere")
    assert await sessions.recall(ask()) == (FIRST,)


async def test_roles_in_another_order_are_the_same_principal(store: IndexStore) -> None:
    sessions = build(store)
    await sessions.remember(ask(Principal("ann", ("a", "b"))), FIRST)
    assert await sessions.recall(ask(Principal("ann", ("b", "a")))) == (FIRST,)


async def test_only_the_last_turns_are_kept(store: IndexStore, index_url: str) -> None:
    sessions = build(store, turns=2)
    turns = [Turn(f"Question {number}?", "failed") for number in range(4)]
    for turn in turns:
        await sessions.remember(ask(), turn)
    assert await sessions.recall(ask()) == tuple(turns[2:])
    assert execute(index_url, "SELECT count(*) FROM quorumsql.session_turns") == [(2,)]


async def test_old_turns_are_forgotten_in_every_session(store: IndexStore, index_url: str) -> None:
    sessions = build(store, keep_hours=2)
    await sessions.remember(ask(), FIRST)
    await sessions.remember(ask(session="t"), FIRST)
    earlier = "UPDATE quorumsql.session_turns SET asked_at = now() - interval '3 hours'"
    execute(index_url, earlier)
    assert await sessions.recall(ask()) == ()
    await sessions.remember(ask(session="u"), SECOND)
    assert execute(index_url, "SELECT session FROM quorumsql.session_turns") == [("u",)]


async def test_forgetting_tells_how_many_there_were(store: IndexStore) -> None:
    sessions = build(store)
    await sessions.remember(ask(), FIRST)
    await sessions.remember(ask(), SECOND)
    assert await sessions.forget(Principal("bob"), "s") == 0
    assert await sessions.forget(ANN, "s") == 2
    assert await sessions.recall(ask()) == ()


@pytest.mark.parametrize("refused", ["SELECT 1", "SELECT 3"], ids=["query", "reading"])
async def test_a_session_with_a_query_that_is_refused_now_is_forgotten(
    store: IndexStore, refused: str
) -> None:
    await build(store).remember(ask(), FIRST)
    await build(store).remember(ask(), SECOND)
    guard = FakeGuard({refused: build_violation("not_permitted")})
    assert await build(store, guard).recall(ask()) == ()
    assert {who for _, _, who in guard.guarded} == {ANN}
    assert await build(store).recall(ask()) == ()


async def test_odd_texts_are_kept_as_far_as_can_be(store: IndexStore) -> None:
    sessions = build(store)
    await sessions.remember(ask(), Turn("a\0b \ud800 “ü” '; DROP TABLE x; --", "failed"))
    (turn,) = await sessions.recall(ask())
    assert turn.question == "ab ? “ü” '; DROP TABLE x; --"


async def test_a_query_that_would_fill_the_prompt_is_not_kept(store: IndexStore) -> None:
    sessions = build(store)
    await sessions.remember(ask(), Turn("Long?", "answered", "SELECT " + "1, " * 5000))
    assert await sessions.recall(ask()) == ()


async def test_an_operator_clears_by_owner_by_session_or_all(store: IndexStore) -> None:
    sessions, bob = build(store), Principal("bob")
    for who, session in ((ANN, "s"), (ANN, "t"), (bob, "s")):
        await sessions.remember(ask(who, session), FIRST)
    assert await sessions.clear(session="t") == 1
    assert await sessions.clear(principal=bob) == 1
    assert await sessions.clear() == 1
    assert await sessions.clear() == 0


async def test_a_store_that_is_away_is_unavailable() -> None:
    sessions = build(IndexStore("postgresql://nobody@127.0.0.1:1/none"))
    with pytest.raises(IndexUnavailable):
        await sessions.recall(ask())
    with pytest.raises(IndexUnavailable):
        await sessions.remember(ask(), FIRST)


async def test_a_table_that_is_missing_is_told(store: IndexStore, index_url: str) -> None:
    execute(index_url, "DROP TABLE quorumsql.session_turns")
    with pytest.raises(IndexUnavailable, match="are missing") as caught:
        await build(store).recall(ask())
    assert "quorumsql.session_turns" in caught.value.said
