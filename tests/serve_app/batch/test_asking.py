"""One question of a job: waiting for what is unavailable, and asking a running service."""

from __future__ import annotations

import json

import httpx
import pytest

from nl2sql.errors import LimitReached, Unavailable
from quorumsql.async_client import AsyncClient
from serve_app.batch.asking import Asker, RetryPolicy
from serve_app.batch.job import JobSpec
from serve_app.batch.questions import BatchQuestion

PAUSES_S = (0.0, 0.0)


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


@pytest.mark.parametrize(
    ("problems", "status", "title", "outcome"),
    [
        (2, 429, "Too many requests", "failed"),
        (2, 503, "Busy", "failed"),
        (99, 503, "Temporarily unavailable", "error"),
    ],
)
async def test_a_service_that_does_not_answer_is_asked_three_times(
    problems: int, status: int, title: str, outcome: str
) -> None:
    requests: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        if len(requests) <= problems:
            problem = {"title": title, "status": status, "detail": "Not now."}
            return httpx.Response(status, json=problem, headers={"Retry-After": "0"})
        answer = {"outcome": "failed", "question": "Q?", "database": "d", "reason": "None ran."}
        return httpx.Response(200, content=f"event: answer\ndata: {json.dumps(answer)}\n")

    async with AsyncClient("http://h", "token", transport=httpx.MockTransport(respond)) as client:
        row = await Asker(JobSpec(input="x"), client, RetryPolicy(PAUSES_S)).ask(
            BatchQuestion("a", "Q?", "shop", "Evidence.")
        )
    assert (row["id"], row["outcome"], len(requests)) == ("a", outcome, 3)
    assert row["reason"] == ("Not now." if outcome == "error" else "None ran.")
    sent = json.loads(requests[0].content)
    assert (sent["database"], sent["evidence"], sent["trace"]) == ("shop", "Evidence.", True)
