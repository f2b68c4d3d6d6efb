"""Requests of any bytes through the whole pipeline: the real index, guard and database.

The model answers with the question itself, so that any text is guarded and run as a query, too.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.types import ASGIApp

from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from serve_app.reporting import Silence
from serve_app.service.feedback import FeedbackService
from serve_app.service.query_service import QueryService
from serve_app.service.sessions import SessionService
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.http.any_bytes import BODIES, TEXTS
from tests.serve_app.http.asgi import HOST, JSON, Exchange, build_scope
from tests.serve_app.http.test_any_bytes import check

_SQL = st.builds(
    lambda head, text, tail: head + text + tail,
    st.sampled_from(
        ["SELECT ", "SELECT count(*) FROM employees WHERE first_name = '", "WITH a AS ("]
    ),
    TEXTS,
    st.sampled_from(["", "'", ")", " FROM employees", "\0"]),
)
_WHOLE = st.fixed_dictionaries(
    {"question": TEXTS | _SQL, "k": st.just(1)},
    optional={
        "evidence": TEXTS,
        "picked": _SQL | TEXTS,
        "session": TEXTS,
        "database": TEXTS,
        "trace": st.booleans(),
        "answer_text": st.sampled_from(["off", "rule", "model"]),
    },
).map(lambda value: json.dumps(value).encode())
_JUDGED = st.fixed_dictionaries(
    {"question": TEXTS, "sql": TEXTS | _SQL, "verdict": st.sampled_from(["right", "wrong"])},
    optional={"correction": TEXTS | _SQL},
).map(lambda value: json.dumps(value).encode())
_ACCEPTED = st.sampled_from([b"*/*", b"text/csv", b"application/vnd.apache.parquet"])


@dataclass
class Running:
    """The service in a loop of its own, for its pools belong to one."""

    app: ASGIApp
    runner: asyncio.Runner
    statuses: set[int] = field(default_factory=set)

    def post(self, path: str, body: bytes, accept: bytes = b"*/*") -> None:
        """Posts the body, and holds the answer against what no answer may be."""
        scope = build_scope("POST", path, (HOST, JSON, (b"accept", accept)))
        exchange = self.runner.run(Exchange([body]).send_to(self.app, scope))
        check(exchange)
        self.statuses.add(exchange.status)


@pytest.fixture(scope="module")
def running(wiring: Wiring) -> Iterator[Running]:
    async def start() -> ASGIApp:
        parts = await stack.enter_async_context(open_parts(wiring, Silence(), engine=EchoEngine()))
        queries = QueryService(wiring.settings, parts.build_pipeline(wiring.settings), {})
        recorder = wiring.build_feedback_recorder(
            parts.store, parts.embedder, parts.guard, parts.executor
        )
        sessions = wiring.build_sessions(parts.store, parts.guard)
        stack.push_async_callback(sessions.clear)
        return build_http_app(
            wiring.settings,
            queries,
            feedback=FeedbackService(wiring.settings, recorder, queries.turns),
            sessions=SessionService(sessions),
        )

    stack = AsyncExitStack()
    with asyncio.Runner() as runner:
        yield Running(runner.run(start()), runner)
        runner.run(stack.aclose())


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(_WHOLE | BODIES, _ACCEPTED)
@example(b'{"question": "SELECT count(*) FROM employees", "k": 1}', b"*/*")
@example(b'{"question": "SELECT \'\\ud800\'", "k": 1}', b"*/*")
@example(b'{"question": "SELECT 1", "picked": "SELECT \'\\u0000\'"}', b"*/*")
@example(b'{"question": "SELECT 1", "session": "a\\u0000"}', b"*/*")
def test_no_question_is_an_error_of_the_service(
    running: Running, body: bytes, accept: bytes
) -> None:
    running.post("/query", body, accept)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(_JUDGED | BODIES)
def test_no_feedback_is_an_error_of_the_service(running: Running, body: bytes) -> None:
    running.post("/feedback", body)


def test_some_were_answered_and_some_refused(running: Running) -> None:
    assert {200, 422} <= running.statuses
