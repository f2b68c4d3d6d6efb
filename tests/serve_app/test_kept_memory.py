"""What a replica keeps of the questions that it has answered: bytes that it counts, and no rows."""

from __future__ import annotations

import gc
import tracemalloc

import pytest
from starlette.types import ASGIApp

from nl2sql.answers import Answered, Trace
from nl2sql.deadline import NEVER, Deadline
from nl2sql.types import (
    Assessment,
    ExecutionLimits,
    Explained,
    Generated,
    GuardedQuery,
    Plan,
    Question,
    Ranking,
    ResultSet,
    SchemaContext,
)
from serve_app.http.app import build_http_app
from serve_app.http.event_stream import EVENT_STREAM
from serve_app.mcp.tools import Services
from tests.fakes import (
    FakeGenerator,
    build_candidate,
    build_generated,
    build_result,
    build_settings,
)
from tests.serve_app.served import build_services, connect

_MIB = 2**20
_CANDIDATES = 8
# Two megabytes for each question, in ints that are shared with nothing.
_ROWS, _COLUMNS = 1000, 5
_DOMAIN = (Answered, Assessment, Ranking, ResultSet, Trace)


class EightCandidates(FakeGenerator):
    """Always writes eight queries."""

    async def generate(
        self,
        question: Question,
        context: SchemaContext,
        plan: Plan,
        *,
        before: Generated | None = None,
        deadline: Deadline = NEVER,
    ) -> Generated:
        numbers = range(1, _CANDIDATES + 1)
        return build_generated(*(build_candidate(f"SELECT {at}", id=f"c{at}") for at in numbers))


class LargeResults:
    """Answers every query with other rows, anew each time."""

    def __init__(self) -> None:
        self._first = 10**9

    async def explain(self, query: GuardedQuery, *, identify: bool = False) -> Explained:
        return Explained(cost=10.0, rows=1.0)

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet:
        self._first += _ROWS * _COLUMNS
        starts = range(self._first, self._first + _ROWS * _COLUMNS, _COLUMNS)
        rows = [tuple(range(start, start + _COLUMNS)) for start in starts[:max_rows]]
        return build_result(*rows, truncated=True)


@pytest.fixture
def services() -> Services:
    return build_services(build_settings(), generator=EightCandidates(), executor=LargeResults())


async def ask(services: Services, app: ASGIApp, questions: int) -> None:
    """Asks over all interfaces in turn."""
    async with connect(app) as client:
        for number in range(questions):
            body = {"question": f"How many in {number}?", "k": _CANDIDATES, "max_rows": 1}
            chat = {"model": "shop", "messages": [{"role": "user", "content": body["question"]}]}
            match number % 4:
                case 0:
                    found = await client.post("/query", json=body)
                case 1:
                    found = await client.post("/query", json=body, headers={"accept": EVENT_STREAM})
                case 2:
                    found = await client.post("/translate", json=body)
                case _:
                    found = await client.post("/v1/chat/completions", json=chat)
            assert found.status_code == 200, found.text


def count_domain_objects() -> int:
    gc.collect()
    return sum(isinstance(found, _DOMAIN) for found in gc.get_objects())


async def test_no_rows_are_kept_of_questions_that_were_answered(services: Services) -> None:
    app = build_http_app(services.settings, services.queries)
    await ask(services, app, 4)
    before = count_domain_objects()
    tracemalloc.start()
    try:
        kept, counted = tracemalloc.get_traced_memory()[0], services.queries.running.size
        await ask(services, app, 20)
        domain_objects = count_domain_objects()
        kept = tracemalloc.get_traced_memory()[0] - kept
    finally:
        tracemalloc.stop()
    assert domain_objects == before
    counted = services.queries.running.size - counted
    assert kept < 2 * counted + _MIB // 2
    assert counted < _MIB // 2
