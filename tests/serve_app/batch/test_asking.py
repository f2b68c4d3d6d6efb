"""One question of a job: waiting for what is unavailable, and asking a running service."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from nl2sql.errors import LimitReached, Unavailable
from nl2sql.settings import Settings
from quorumsql.async_client import AsyncClient
from serve_app.batch.asking import Asker, RetryPolicy
from serve_app.batch.job import JobSpec
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.results import Row
from tests.fakes import (
    FakeGenerator,
    build_candidate,
    build_generated,
    build_result,
    build_settings,
)
from tests.serve_app.served import build_app

SQL = "SELECT 1"
PAUSES_S = (0.0, 0.0)
SETTINGS = build_settings(identity={"principals": {"mia": {"token_env": "MIA_TOKEN"}}})


class Calls:
    """Raises each of ``errors`` once, then returns the number of calls."""

    def __init__(self, *errors: Exception) -> None:
        self._errors = list(errors)
        self.count = 0

    async def __call__(self) -> int:
        self.count += 1
        if self._errors:
            raise self._errors.pop(0)
        return self.count


async def test_what_is_unavailable_is_asked_again() -> None:
    calls = Calls(Unavailable("Down."), LimitReached("Busy.", retry_after_s=0))
    assert await RetryPolicy(PAUSES_S).run(calls) == 3


async def test_nobody_waits_for_the_limit_of_a_day() -> None:
    calls = Calls(LimitReached("Enough.", retry_after_s=50_000))
    with pytest.raises(LimitReached):
        await RetryPolicy(PAUSES_S).run(calls)
    assert calls.count == 1


async def test_attempts_have_an_end_and_then_there_is_one_attempt() -> None:
    policy = RetryPolicy(PAUSES_S)
    always = [Unavailable("Down.")] * 9
    calls = Calls(*always)
    with pytest.raises(Unavailable):
        await policy.run(calls)
    assert calls.count == 3
    with pytest.raises(Unavailable):
        await policy.run(calls)
    assert calls.count == 4
    # A success brings the attempts back.
    assert await policy.run(Calls()) == 1
    assert await policy.run(Calls(Unavailable("Down."))) == 2


class BusyTransport(httpx.AsyncBaseTransport):
    """Answers ``busy`` times that the service is busy, then passes requests to the service."""

    def __init__(self, settings: Settings, busy: int, status: int, title: str = "Busy") -> None:
        self._title = title
        generated = [build_generated(build_candidate(SQL))] * 9
        app = build_app(
            settings,
            generator=FakeGenerator(*generated),
            results={SQL: [build_result((3,), (1,))] * 9},
        )
        self._service = httpx.ASGITransport(app)
        self._busy = busy
        self._status = status
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response of the service, or that it is busy."""
        self.requests.append(request)
        if len(self.requests) <= self._busy:
            problem = {
                "title": self._title,
                "status": self._status,
                "detail": "Too many questions.",
            }
            return httpx.Response(self._status, json=problem, headers={"Retry-After": "0"})
        return await self._service.handle_async_request(request)


def ask_all(transport: BusyTransport, *questions: BatchQuestion) -> list[Row]:
    async def run() -> list[Row]:
        async with AsyncClient("http://localhost", "mia's", transport=transport) as client:
            asker = Asker(JobSpec(input="x", kept_rows=1), client, RetryPolicy(PAUSES_S))
            return [await asker.ask(question) for question in questions]

    return asyncio.run(run())


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_asked_again(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv("MIA_TOKEN", "mia's")
    transport = BusyTransport(SETTINGS, 2, status)
    (row,) = ask_all(transport, BatchQuestion("a", "Q?"))
    assert (row["outcome"], row["sql"], row["rows"]) == ("answered", SQL, "[[3]]")
    assert row["row_count"] == 2
    assert len(transport.requests) == 3


def test_a_service_that_stays_unavailable_is_the_questions_error() -> None:
    transport = BusyTransport(SETTINGS, 99, 503, title="Temporarily unavailable")
    (row,) = ask_all(transport, BatchQuestion("a", "Q?"))
    assert (row["outcome"], row["reason"]) == ("error", "Too many questions.")
    assert len(transport.requests) == 3
