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
