"""The time that a request has is known to all of its work, and is its own."""

from __future__ import annotations

import asyncio

import pytest

from nl2sql.answers import Answer, Refused, Trace
from nl2sql.deadline import read_left_s
from nl2sql.errors import DeadlineExceeded
from nl2sql.types import Principal, Question
from quorumsql.contract import QueryRequest
from serve_app.service.query_service import QueryService
from tests.fakes import build_settings

TESTER = Principal("tester")
ASKED = QueryRequest(question="How many orders?")


class HangingAnswerer:
    """The first of its answers takes for ever; ``left_s`` is what each question had left."""

    def __init__(self, *, hangs: bool) -> None:
        self.left_s: list[float | None] = []
        self._hangs = hangs

    async def answer(self, question: Question) -> Answer:
        """A refusal."""
        self.left_s.append(read_left_s())
        if self._hangs and len(self.left_s) == 1:
            await asyncio.Event().wait()
        return Refused("off_topic", "No.", Trace(question))


def build_service(answerer: HangingAnswerer, timeout_ms: int) -> QueryService:
    return QueryService(build_settings(limits={"request_timeout_ms": timeout_ms}), answerer, {})


async def test_the_pipeline_knows_how_much_time_is_left() -> None:
    answerer = HangingAnswerer(hangs=False)
    await build_service(answerer, 60_000).query(ASKED, TESTER)
    (left_s,) = answerer.left_s
    assert left_s is not None
    assert 50 < left_s <= 60


async def test_who_joins_the_work_of_another_has_all_of_its_own_time() -> None:
    answerer = HangingAnswerer(hangs=True)
    service = build_service(answerer, 1000)
    first = asyncio.create_task(service.query(ASKED, TESTER))
    await asyncio.sleep(0.5)
    second = asyncio.create_task(service.query(ASKED, TESTER))
    with pytest.raises(DeadlineExceeded, match="No answer within 1 seconds"):
        await first
    assert isinstance(await second, Refused)
    assert len(answerer.left_s) == 2


class StubbornAnswerer:
    """Goes on for a while after it is cancelled, as a driver does that waits for a server."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    async def answer(self, question: Question) -> Answer:
        """Never."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.shield(asyncio.create_task(self._end()))
        raise AssertionError

    async def _end(self) -> None:
        await asyncio.sleep(0.2)
        self.ended.set()


@pytest.mark.parametrize("session", [None, "chat"])
@pytest.mark.parametrize("is_cancelled", [False, True], ids=["too late", "cancelled"])
async def test_nobody_waits_for_work_that_does_not_end(
    session: str | None, is_cancelled: bool
) -> None:
    answerer = StubbornAnswerer()
    settings = build_settings(limits={"request_timeout_ms": 60_000 if is_cancelled else 1000})
    service = QueryService(settings, answerer, {})
    request = ASKED.model_copy(update={"session": session})
    asking = asyncio.create_task(service.query(request, TESTER))
    if is_cancelled:
        await asyncio.sleep(0.05)
        asking.cancel()
    await asyncio.wait({asking})
    assert asking.cancelled() if is_cancelled else isinstance(asking.exception(), DeadlineExceeded)
    assert not answerer.ended.is_set()
    async with asyncio.timeout(5):
        await answerer.ended.wait()
