"""What the service does with the answers that it keeps: limits, admission, sharing, observers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from nl2sql.answers import Answer, Answered
from nl2sql.errors import Busy
from nl2sql.protocols import Observer
from nl2sql.types import Principal, Question, QuestionEvent, RowsFetched
from quorumsql.contract import QueryRequest
from serve_app.service.accounting import Accounting, Work
from serve_app.service.query_service import QueryService
from serve_app.service.recorder import QuestionRecorder
from tests.fakes import build_settings
from tests.serve_app.service.test_answer_cache import Answering
from tests.serve_app.service.test_metrics import FakeMeter

TESTER = Principal("tester")
ASKED = QueryRequest(question="How many?")
OTHER = QueryRequest(question="How much?")


class Service:
    """A service whose answers count from 1; with ``go`` cleared they are held back."""

    def __init__(self, accounting: Accounting | None = None, **serve: Any) -> None:
        self.asking = Answering()
        self.go = asyncio.Event()
        self.go.set()
        self.meter = FakeMeter()
        settings = build_settings(serve=serve)
        self.queries = QueryService(
            settings,
            self,
            {},
            accounting=accounting,
            recorder=QuestionRecorder(settings, self.meter),
            cache=self.asking.cache,
        )

    async def answer(self, question: Question) -> Answer:
        """See ``Answerer.answer``."""
        await self.go.wait()
        return await self.asking.work(question)

    async def ask(self, request: QueryRequest = ASKED, **options: Any) -> Answered:
        answer = await self.queries.query(request, TESTER, **options)
        assert isinstance(answer, Answered)
        return answer

    async def number(self, request: QueryRequest = ASKED, **options: Any) -> object:
        return (await self.ask(request, **options)).result.rows[0][0]


class Watching:
    """Keeps the events."""

    def __init__(self) -> None:
        self.events: list[QuestionEvent] = []

    def observe(self, event: QuestionEvent) -> None:
        self.events.append(event)


async def test_a_kept_answer_is_given_and_says_so() -> None:
    service = Service()
    first, second = await service.ask(), await service.ask()
    assert first.trace.cached_at is None
    assert second.trace.cached_at is not None
    assert second.result == first.result
    assert service.asking.answered == 1


async def test_without_the_cache_it_is_answered_anew_and_that_answer_is_kept() -> None:
    service = Service()
    assert [await service.number(), await service.number()] == [1, 1]
    assert await service.number(use_cache=False) == 2
    assert await service.number() == 2


async def test_a_kept_answer_needs_no_turn() -> None:
    service = Service(max_ongoing_requests=1, max_waiting_requests=0)
    await service.ask()
    service.go.clear()
    held = asyncio.create_task(service.ask(OTHER))
    await asyncio.wait_for(service.queries.turns.wait_until_busy(), 30)
    with pytest.raises(Busy):
        await service.ask(QueryRequest(question="Why?"))
    assert await service.number() == 1
    service.go.set()
    await held


async def test_identical_questions_at_a_time_are_answered_once() -> None:
    service = Service()
    service.go.clear()
    tasks = [asyncio.create_task(service.number()) for _ in range(3)]
    await asyncio.wait_for(service.queries.turns.wait_until_busy(), 30)
    service.go.set()
    assert await asyncio.gather(*tasks) == [1, 1, 1]
    assert await service.number() == 1


async def test_an_answer_that_was_begun_before_a_change_is_not_kept_by_who_shares_it() -> None:
    service = Service()
    service.go.clear()
    first = asyncio.create_task(service.number())
    await asyncio.wait_for(service.queries.turns.wait_until_busy(), 30)
    while not service.asking.data.asked:  # noqa: ASYNC110 - until the revision was read
        await asyncio.sleep(0.01)
    service.asking.data.value = "r2"
    second = asyncio.create_task(service.number())
    await asyncio.sleep(0.05)
    service.go.set()
    assert (await first, await second) == (1, 1)
    assert await service.number() == 2


async def test_a_question_of_a_conversation_is_answered_anew() -> None:
    service = Service()
    request = ASKED.model_copy(update={"session": "s"})
    assert await service.number(request) == 1
    assert await service.number(request) == 2
    assert service.asking.data.asked == 0


class Counting(Accounting):
    """Counts questions; allows ``most_rows`` if that is set."""

    def __init__(self) -> None:
        super().__init__()
        self.counted = 0
        self.most_rows = 0

    async def answer(self, question: Question, observer: Observer | None, work: Work) -> Answer:
        self.counted += 1
        return await super().answer(
            replace(question, max_rows=self.most_rows or question.max_rows), observer, work
        )


async def test_a_kept_answer_counts_as_a_question() -> None:
    accounting = Counting()
    service = Service(accounting)
    await service.ask()
    await service.ask()
    assert accounting.counted == 2


async def test_who_may_have_fewer_rows_is_answered_anew() -> None:
    accounting = Counting()
    service = Service(accounting)
    await service.ask()
    accounting.most_rows = 1
    fewer = await service.ask()
    assert (fewer.result.rows[0][0], fewer.trace.question.max_rows) == (2, 1)
    accounting.most_rows = 0
    assert await service.number() == 1


async def test_an_observer_gets_the_rows() -> None:
    service, watching = Service(), Watching()
    await service.ask()
    answer = await service.ask(observer=watching)
    assert watching.events == [RowsFetched(answer.sql, answer.result)]


async def test_the_work_of_a_kept_answer_is_measured_once() -> None:
    service = Service()
    await service.ask()
    await service.ask()
    assert service.meter.values["questions", "answered", "shop"] == 2
    assert service.meter.values["candidates", "accepted"] == 1
