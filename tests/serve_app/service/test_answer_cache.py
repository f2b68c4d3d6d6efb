"""The answers that are kept: what finds them, what does not, and how many there are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nl2sql.answers import Answer, Answered, Failed, Refused, Trace
from nl2sql.cache_counts import read_lookups
from nl2sql.errors import DatabaseUnavailable, IndexUnavailable
from nl2sql.types import (
    Access,
    GuardedQuery,
    Plan,
    Principal,
    Question,
    Ranking,
    SchemaLinks,
    Turn,
)
from serve_app.service.answer_cache import AnswerCache
from tests.fakes import (
    build_assessment,
    build_diagnostic,
    build_question,
    build_result,
    build_violation,
)

ENOUGH = 1 << 20
ASKED = build_question()


class FakeRevisions:
    """``value`` is the revision, raised if it is an error; ``changing`` are SQL texts."""

    def __init__(self, value: str | Exception = "r1") -> None:
        self.value = value
        self.changing: set[str] = set()
        self.asked = 0
        self.hangs = False

    async def revision(self, database: str) -> str:
        self.asked += 1
        if self.hangs:
            await asyncio.sleep(60)
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    async def are_repeatable(self, queries: Sequence[GuardedQuery]) -> bool:
        return not any(query.sql in self.changing for query in queries)


class Answering:
    """A cache, and answers that count from 1; ``build`` may be replaced."""

    def __init__(self, most_bytes: int = ENOUGH) -> None:
        self.index, self.data = FakeRevisions(), FakeRevisions()
        self.cache = AnswerCache(most_bytes, self.index, self.data)
        self.answered = 0
        self.changes: dict[str, Any] = {}
        self.of_trace: dict[str, Any] = {}
        self.text = ""

    async def work(self, question: Question) -> Answer:
        self.answered += 1
        result = build_result((self.answered, self.text))
        ranking = Ranking((build_assessment(rows=[(1,)], sql="SELECT 1"),), samples=1)
        values = {"question": question, "ranking": ranking, **self.of_trace}
        answered = Answered("SELECT 1", result, 0.9, True, Trace(**values))
        return replace(answered, **self.changes)

    async def ask(self, question: Question = ASKED) -> int:
        """The number of the answer to the question: a new one or an old one."""
        answer = await self.cache.find(question)
        if answer is None:
            found = await self.cache.answer(question, self.work)
            assert isinstance(found, Answered)
            assert found.trace.cached_at is None
            answer = found
        else:
            assert answer.trace.cached_at is not None
        number = answer.result.rows[0][0]
        assert isinstance(number, int)
        return number


async def test_the_same_question_has_the_same_answer() -> None:
    asking = Answering()
    assert [await asking.ask() for _ in range(3)] == [1, 1, 1]
    kept = await asking.cache.find(ASKED)
    assert kept is not None
    assert (kept.trace.question, kept.trace.timings) == (ASKED, ())


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "Another?"},
        {"database": "second"},
        {"k": 2},
        {"seed": 1},
        {"max_rows": 99},
        {"evidence": "It is so."},
        {"picked": "SELECT 1"},
        {"answer_text": "rule"},
        {"principal": Principal("other")},
        {"principal": Principal("tester", ("clerk",))},
        {"principal": Principal("tester", attributes=(("region", 1),))},
    ],
)
async def test_any_difference_makes_another_question(changes: dict[str, Any]) -> None:
    asking = Answering()
    assert [await asking.ask(), await asking.ask(replace(ASKED, **changes))] == [1, 2]
    assert await asking.ask() == 1


async def test_attributes_of_another_type_make_another_principal() -> None:
    asking = Answering()
    values = (1, True, 1.0, "1", (1,))
    people = [Principal("tester", attributes=(("region", value),)) for value in values]
    asked = [await asking.ask(replace(ASKED, principal=person)) for person in people]
    assert asked == [1, 2, 3, 4, 5]


async def test_another_key_of_the_same_principal_is_not_another_principal() -> None:
    asking = Answering()
    for key in ("first", "second"):
        principal = Principal("tester", access=Access(key=key))
        assert await asking.ask(replace(ASKED, principal=principal)) == 1
    found = await asking.cache.find(replace(ASKED, principal=principal))
    assert found is not None
    assert found.trace.question.principal.access.key == "second"


@pytest.mark.parametrize("part", ["index", "data"])
async def test_a_changed_revision_finds_nothing_and_the_new_answer_takes_the_place(
    part: str,
) -> None:
    asking = Answering()
    assert [await asking.ask(), await asking.ask()] == [1, 1]
    size = asking.cache.size
    getattr(asking, part).value = "r2"
    assert [await asking.ask(), await asking.ask()] == [2, 2]
    assert asking.cache.size == pytest.approx(size, abs=64)


@pytest.mark.parametrize("part", ["index", "data"])
@pytest.mark.parametrize(
    "value", ["", DatabaseUnavailable("gone", database="shop"), IndexUnavailable("gone")]
)
async def test_without_a_revision_nothing_is_kept_or_found(
    part: str, value: str | Exception
) -> None:
    asking = Answering()
    getattr(asking, part).value = value
    assert [await asking.ask(), await asking.ask()] == [1, 2]
    getattr(asking, part).value = "r1"
    assert [await asking.ask(), await asking.ask()] == [3, 3]
    getattr(asking, part).value = value
    assert await asking.ask() == 4


async def test_a_revision_that_does_not_come_is_not_waited_for() -> None:
    asking = Answering()
    asking.data.hangs = True
    async with asyncio.timeout(30):
        assert await asking.ask() == 1
    asking.data.hangs = False
    assert await asking.ask() == 2


async def test_what_changes_while_it_is_answered_is_never_found() -> None:
    asking = Answering()

    async def change(question: Question) -> Answer:
        asking.data.value = "r2"
        return await asking.work(question)

    await asking.cache.answer(ASKED, change)
    assert await asking.cache.find(ASKED) is None
    assert await asking.ask() == 2


async def test_a_question_of_a_conversation_is_neither_kept_nor_looked_up() -> None:
    asking = Answering()
    for changes in ({"session": "s"}, {"history": (Turn("Before?", "answered", "SELECT 2"),)}):
        question = replace(ASKED, **changes)
        assert await asking.ask(question) != await asking.ask(question)
    assert (asking.index.asked, asking.data.asked, asking.cache.size) == (0, 0, 0)


@pytest.mark.parametrize(
    "of_trace",
    [
        {"ended_early": True},
        {"notes": ("Something was unavailable.",)},
        {"plan": Plan(SchemaLinks(note="The model did not answer"))},
        {"ranking": Ranking((build_assessment(unrun="timeout"),))},
        {"ranking": Ranking((build_assessment(unrun="budget"),))},
        {"ranking": Ranking((build_assessment(unrun="busy"),))},
        {"ranking": Ranking((build_assessment(diagnostic=build_diagnostic(sqlstate="57014")),))},
        {"ranking": Ranking((build_assessment(diagnostic=build_diagnostic(sqlstate="55P03")),))},
        {"ranking": Ranking((build_assessment(rows=[(1,)], sql="SELECT now()"),))},
        {"question": replace(ASKED, answer_text="model")},
    ],
)
async def test_an_answer_that_another_try_may_better_is_not_kept(of_trace: dict[str, Any]) -> None:
    asking = Answering()
    asking.data.changing.add("SELECT now()")
    asking.of_trace = of_trace
    assert [await asking.ask(), await asking.ask()] == [1, 2]


async def test_errors_and_refused_candidates_of_the_vote_do_not_matter() -> None:
    asking = Answering()
    failed = build_assessment("c1", diagnostic=build_diagnostic())
    refused = build_assessment("c2", verdict=build_violation())
    asking.of_trace = {"ranking": Ranking((build_assessment("c3", rows=[(1,)]), failed, refused))}
    assert [await asking.ask(), await asking.ask()] == [1, 1]


async def test_only_answers_with_rows_are_kept() -> None:
    asking = Answering()
    for answer in (Refused("off_topic", "No.", Trace(ASKED)), Failed("No.", Trace(ASKED))):

        async def give(_: Question, given: Answer = answer) -> Answer:
            return given

        assert await asking.cache.answer(ASKED, give) is answer
        assert await asking.cache.find(ASKED) is None

    async def fail(_: Question) -> Answer:
        raise DatabaseUnavailable("gone", database="shop")

    with pytest.raises(DatabaseUnavailable):
        await asking.cache.answer(ASKED, fail)
    assert asking.cache.size == 0


async def test_the_least_recently_used_answers_make_room() -> None:
    measured = Answering()
    await measured.ask()
    one = measured.cache.size
    asking = Answering(most_bytes=3 * one + one // 2)
    first, second, third, fourth = (replace(ASKED, seed=seed) for seed in range(4))
    assert [await asking.ask(question) for question in (first, second, third)] == [1, 2, 3]
    assert await asking.ask(first) == 1
    assert await asking.ask(fourth) == 4
    assert asking.cache.size <= 3 * one + one // 2
    assert [await asking.ask(question) for question in (first, third, fourth)] == [1, 3, 4]
    assert await asking.ask(second) == 5


async def test_an_answer_that_is_too_large_is_not_kept_and_displaces_none() -> None:
    asking = Answering(most_bytes=10_000)
    assert await asking.ask() == 1
    # Incompressible, as far as that goes.
    asking.text = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(20_000))
    large = replace(ASKED, seed=1)
    assert [await asking.ask(large), await asking.ask(large)] == [2, 3]
    assert await asking.ask() == 1


async def test_callers_share_nothing() -> None:
    asking = Answering()
    await asking.ask()
    first, second = await asking.cache.find(ASKED), await asking.cache.find(ASKED)
    assert first == second
    assert first is not None
    assert second is not None
    assert first.result is not second.result


async def test_the_revision_is_read_only_if_an_answer_is_there() -> None:
    asking = Answering()
    assert await asking.cache.find(ASKED) is None
    assert asking.data.asked == 0
    await asking.ask()
    assert asking.data.asked == 1


async def test_lookups_are_counted() -> None:
    def count() -> tuple[int, int]:
        lookups = read_lookups()
        return lookups.get(("answers", "hit"), 0), lookups.get(("answers", "miss"), 0)

    asking = Answering()
    hits, misses = count()
    for _ in range(3):
        await asking.ask()
    asking.data.value = "r2"
    await asking.ask()
    assert count() == (hits + 2, misses + 2)
