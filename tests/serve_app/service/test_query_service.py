"""A request becomes a question within the limits, has its own time, and is kept in the history."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nl2sql.answers import Answer, Refused, Trace
from nl2sql.deadline import read_left_s
from nl2sql.errors import DeadlineExceeded
from nl2sql.types import Principal, Question
from quorumsql.contract import QueryRequest
from quorumsql.contract.model import CandidateCount
from serve_app.service.query_service import QueryService, build_question
from tests.fakes import build_settings

MIA = Principal("mia")
ASKED = QueryRequest(question="How many orders?")


# -- the question ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "chosen"), [(None, 4), (7, 7), ("adaptive", "adaptive")])
def test_a_request_may_leave_the_number_to_the_service_or_to_the_question(
    asked: CandidateCount | None, chosen: CandidateCount
) -> None:
    request = QueryRequest(question="q", k=asked)
    assert build_question(request, build_settings(sampling={"k": 4}), MIA).k == chosen


@pytest.mark.parametrize(
    ("asked", "setting", "chosen"),
    [(None, "rule", "rule"), ("rule", "off", "rule"), ("off", "rule", "off")],
)
def test_who_words_the_answer_is_the_requests_choice(asked: Any, setting: str, chosen: str) -> None:
    request = QueryRequest(question="q", answer_text=asked)
    assert (
        build_question(request, build_settings(answer={"text": setting}), MIA).answer_text == chosen
    )


def test_a_new_session_gets_its_name_here() -> None:
    first, second = (
        build_question(QueryRequest(question="q", session="new"), build_settings(), MIA).session
        for _ in range(2)
    )
    assert len(first) == len(second) == 16
    assert first != second


# -- the time --------------------------------------------------------------------------------------


class HangingAnswerer:
    """The first of its answers takes for ever; ``left_s`` is what each question had left."""

    def __init__(self) -> None:
        self.left_s: list[float | None] = []

    async def answer(self, question: Question) -> Answer:
        """A refusal."""
        self.left_s.append(read_left_s())
        if len(self.left_s) == 1:
            await asyncio.Event().wait()
        return Refused("off_topic", "No.", Trace(question))


async def test_who_joins_the_work_of_another_has_all_of_its_own_time() -> None:
    answerer = HangingAnswerer()
    service = QueryService(build_settings(limits={"request_timeout_ms": 2000}), answerer, {})
    first = asyncio.create_task(service.query(ASKED, MIA))
    await asyncio.sleep(1)
    second = asyncio.create_task(service.query(ASKED, MIA))
    with pytest.raises(DeadlineExceeded, match="No answer within 2 seconds"):
        await first
    assert isinstance(await second, Refused)
    assert all(left_s is not None and left_s <= 2 for left_s in answerer.left_s)
    assert len(answerer.left_s) == 2


class StubbornAnswerer:
    """Goes on after it is cancelled, as a driver does that waits for a server."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.ended = asyncio.Event()

    async def answer(self, question: Question) -> Answer:
        """Never."""
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.shield(asyncio.create_task(self._end()))
        raise AssertionError

    async def _end(self) -> None:
        await self.may_end.wait()
        self.ended.set()


@pytest.mark.parametrize("session", [None, "chat"])
@pytest.mark.parametrize("is_cancelled", [False, True], ids=["too late", "cancelled"])
async def test_nobody_waits_for_work_that_does_not_end(
    session: str | None, is_cancelled: bool
) -> None:
    answerer = StubbornAnswerer()
    settings = build_settings(limits={"request_timeout_ms": 60_000 if is_cancelled else 1000})
    service = QueryService(settings, answerer, {})
    asking = asyncio.create_task(service.query(ASKED.model_copy(update={"session": session}), MIA))
    await answerer.begun.wait()
    if is_cancelled:
        asking.cancel()
    await asyncio.wait({asking})
    assert asking.cancelled() if is_cancelled else isinstance(asking.exception(), DeadlineExceeded)
    assert not answerer.ended.is_set()
    answerer.may_end.set()
    await answerer.ended.wait()
