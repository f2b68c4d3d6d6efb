"""Whatever a client sends, the answer is no error of the service's, and errors are short."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from starlette.types import ASGIApp

from nl2sql.answers import Answer, Answered, Refused, Trace
from nl2sql.types import FeedbackReceipt, Question, ResultSet
from serve_app.http.app import build_http_app
from serve_app.service.feedback import FeedbackService
from serve_app.service.query_service import QueryService
from serve_app.service.sessions import SessionService
from tests.fakes import FakeSessions, build_settings
from tests.serve_app.http.any_bytes import BODIES, EXTREMES, HEADERS, METHODS, TARGETS
from tests.serve_app.http.asgi import HOST, JSON, Exchange, Headers, build_scope

_MOST_PROBLEM_BYTES = 16_384
# What a model may say, as well as a request.
_HALF = "\ud800"


class ParrotAnswerer:
    """Refuses with the question, or answers with it, in all places that hold text."""

    async def answer(self, question: Question) -> Answer:
        trace = Trace(question, asked=question.text, notes=(question.text, _HALF))
        if not question.picked:
            return Refused("off_topic", question.text + _HALF, trace, (question.evidence,))
        text = question.picked + _HALF
        result = ResultSet((text[:-1],), ("text",), ((text[:-1],),), truncated=False, ms=1.0)
        return Answered(text, result, 0.5, False, trace, text=question.text)


class ParrotTaker:
    """Refuses all feedback with its own words."""

    async def take_feedback(self, feedback: Any) -> FeedbackReceipt:
        return FeedbackReceipt("refused", reason=feedback.sql + _HALF)


class NoProbe:
    async def probe(self) -> tuple[tuple[str, str], ...]:
        return (("index", ""),)


def build_parrot(*, with_token: bool) -> ASGIApp:
    identity = {"principals": {"ann": {"token_env": "ANN_TOKEN"}}} if with_token else {}
    chosen = build_settings(identity=identity)
    service = QueryService(chosen, ParrotAnswerer(), {"index": NoProbe()})
    return build_http_app(
        chosen,
        service,
        feedback=FeedbackService(chosen, ParrotTaker(), service.turns),
        sessions=SessionService(FakeSessions()),
    )


@pytest.fixture(scope="module")
def apps() -> tuple[ASGIApp, ASGIApp]:
    return build_parrot(with_token=False), build_parrot(with_token=True)


def check(exchange: Exchange) -> None:
    """No error of the service's, and every other error a problem of bounded size."""
    assert 200 <= exchange.status < 500, exchange
    assert exchange.headers["x-content-type-options"] == "nosniff"
    if exchange.status >= 400:
        assert exchange.headers["content-type"] == "application/problem+json"
        assert len(exchange.body) <= _MOST_PROBLEM_BYTES, len(exchange.body)
        problem = json.loads(exchange.body)
        assert problem["status"] == exchange.status
        assert problem["title"]
        assert len(problem.get("errors", ())) <= 6
        problem_text = exchange.body.decode()
        assert "Traceback" not in problem_text


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(METHODS, TARGETS, HEADERS, BODIES)
@example("POST", "/query", [], b'{"question": "\\ud800"}')
@example("POST", "/query", [], b'{"question": "q", "picked": "\\ud800"}')
@example("POST", "/query", [], b'{"question": "q", "evidence": "\\udfff"}')
@example("POST", "/query", [], b'{"question": "q", "session": "\\ud800"}')
@example("POST", "/query", [], b'{"question": "q", "database": "\\ud800"}')
@example("POST", "/query", [], b'{"question": "q", "\\ud800": 1}')
@example("POST", "/query", [], b"[" * 60_000)
@example("POST", "/query", [(b"accept", b"text/csv")], b'{"question": "q", "picked": "x"}')
@example("POST", "/feedback", [], b'{"question": "q", "sql": "s", "verdict": "\\ud800"}')
def test_no_bytes_are_an_error_of_the_service(
    apps: tuple[ASGIApp, ASGIApp],
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    target: str,
    headers: Headers,
    body: bytes,
) -> None:
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    whole = (HOST, JSON, *headers)
    for app, more in ((apps[0], ()), (apps[1], ((b"authorization", b"Bearer s3cret"),))):
        scope = build_scope(method, target, (*whole, *more))
        check(asyncio.run(Exchange([body]).send_to(app, scope)))
    # And where the headers are only those drawn.
    check(asyncio.run(Exchange([body]).send_to(apps[0], build_scope(method, target, headers))))


@pytest.mark.parametrize("path", ["/query", "/feedback"])
@pytest.mark.parametrize("body", EXTREMES, ids=range(len(EXTREMES)))
async def test_extremes_are_no_errors_of_the_service(path: str, body: bytes) -> None:
    scope = build_scope("POST", path, (HOST, JSON))
    check(await Exchange([body]).send_to(build_parrot(with_token=False), scope))


async def test_unknown_keys_are_named_only_as_far_as_that_helps() -> None:
    app = build_parrot(with_token=False)
    scope = build_scope("POST", "/query", (HOST, JSON))
    keys = {f"key {at}": 1 for at in range(3000)}
    problem = json.loads(
        (await Exchange([json.dumps({"question": "q", **keys}).encode()]).send_to(app, scope)).body
    )
    assert problem["errors"][0] == {
        "field": "key 0",
        "message": "Extra inputs are not permitted",
    }
    assert problem["detail"].startswith("3000 errors, the first of them: key 0: Extra")


async def test_half_a_character_is_the_callers_mistake() -> None:
    app = build_parrot(with_token=False)
    scope = build_scope("POST", "/query", (HOST, JSON))
    for field in ("question", "evidence", "picked", "session"):
        body = json.dumps({"question": "q", field: "a\ud800b"}).encode()
        exchange = await Exchange([body]).send_to(app, scope)
        assert exchange.status == 422
        assert json.loads(exchange.body)["errors"][0]["field"] == field


async def test_what_a_model_says_is_told_as_it_is() -> None:
    app = build_parrot(with_token=False)
    body = json.dumps({"question": "q", "picked": "SELECT 1"}).encode()
    told = await Exchange([body]).send_to(app, build_scope("POST", "/query", (HOST, JSON)))
    assert json.loads(told.body)["sql"] == "SELECT 1\ud800"
