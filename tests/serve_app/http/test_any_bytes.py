"""Whatever a client sends, the answer is no error of the service's, and errors are short."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.types import ASGIApp

from nl2sql.answers import Answer, Answered, Refused, Trace
from nl2sql.types import FeedbackReceipt, Question, ResultSet
from serve_app.http.app import build_http_app
from serve_app.service.feedback import FeedbackService
from serve_app.service.history import SessionService
from serve_app.service.query_service import QueryService
from tests.fakes import FakeSessions, build_settings
from tests.serve_app.http.asgi import HOST, JSON, Exchange, Headers, build_scope

# Half characters and NUL among them: JSON can write what no encoding can.
TEXTS = st.text(st.characters(), max_size=40) | st.sampled_from(
    ["\ud800", "a\udfffb", "\0", "x" * 5000, "‮", "{}" * 30, "SELECT 1", "../..", "%ff", "new", "s"]
)
SCALARS = (
    TEXTS
    | st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(2**63), float("nan"), float("inf"), -0.0, 1e308])
    | st.floats()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
_FIELDS = st.sampled_from(
    "question evidence database k seed max_rows picked session answer_text trace spreadsheet_safe "
    "sql verdict correction".split()
)
_QUERY = {"question": "How many?"}
_FEEDBACK = {"question": "How many?", "sql": "SELECT 1", "verdict": "wrong"}


def _encode(value: Any) -> bytes:
    return json.dumps(value).encode()


OBJECTS = st.builds(
    lambda base, changes, unknown: {**base, **changes, **unknown},
    st.sampled_from([_QUERY, _FEEDBACK]),
    st.dictionaries(_FIELDS, VALUES, max_size=3),
    st.dictionaries(TEXTS, VALUES, max_size=2) | st.just({}),
)
_CUT = st.builds(lambda value, at: _encode(value)[: -at - 1], OBJECTS, st.integers(0, 9))
_SPLICED = st.builds(
    lambda value, at, junk: (text := _encode(value))[:at] + junk + text[at:],
    OBJECTS,
    st.integers(0, 60),
    st.binary(min_size=1, max_size=4),
)
EXTREMES = (
    b"[" * 60_000,
    b'{"question":' * 5_000,
    b'{"a":' * 9_000 + b"1" + b"}" * 9_000,
    b'{"question": ' + b"9" * 60_000 + b"}",
    b'{"question": "q", "k": 1' + b"0" * 5_000 + b"}",
    b'{"question": "q", "k": 1e999999999}',
    b'{"question": "q", "k": NaN, "seed": -Infinity}',
    b'{"question": "\xed\xa0\x80"}',
    b"\xef\xbb\xbf" + _encode(_QUERY),
    _encode(_QUERY).decode().encode("utf-16"),
    b"{" + b", ".join(b'"%d": 1' % at for at in range(6_000)) + b"}",
    b'{"' + b"x" * 60_000 + b'": 1}',
    b'{"question": "q", "database": "' + b"\\u0001" * 10_000 + b'"}',
    b'{"question": "q", "database": "' + b"\\ud800" * 10_000 + b'"}',
    b'{"question": "q", "question": "\\ud800", "question": ""}',
    b'"\\ud800"',
    b"\0" * 1000,
    b"{" + b", ".join(b'"%d' % at + b"\\u0001" * 1_000 + b'": 1' for at in range(9)) + b"}",
    _encode({f"{at}" + "𝄞" * 1000: 1 for at in range(5)}),
)
BODIES = (
    OBJECTS.map(_encode)
    | VALUES.map(_encode)
    | _CUT
    | _SPLICED
    | st.sampled_from(EXTREMES)
    | st.binary()
)

_PLAIN = st.binary(max_size=30).map(
    lambda raw: bytes(byte for byte in raw if byte >= 32 and byte != 127)
)
_KNOWN = st.sampled_from(
    [
        (b"accept", b"text/csv"), (b"accept", b"text/csv;q=nan, */*;q=1e999"), (b"accept", b";,;q"),
        (b"content-type", b"application/json; charset=\xff"), (b"content-type", b"text/plain"),
        (b"content-type", b"application/x+json"), (b"content-type", b"multipart/form-data"),
        (b"content-type", b"\xff"), (b"content-length", b"-1"), (b"content-length", b"x"),
        (b"authorization", b"Bearer s3cret"), (b"authorization", b"Bearer \xff"),
        (b"origin", b"http://localhost"), (b"origin", b"\xff"), (b"sec-fetch-site", b"cross-site"),
        (b"host", b"localhost"), (b"host", b"\xff"), (b"cookie", b"\xff=\xfe"),
        (b"if-none-match", b"*"), (b"x-forwarded-host", b"evil.io"), (b"expect", b"100-continue"),
    ]
)  # fmt: skip
_NAMES = st.sampled_from(
    b"accept content-type authorization origin host content-length cookie x-a".split()
)
HEADERS = st.lists(_KNOWN | st.tuples(_NAMES, _PLAIN), max_size=4)

_SEGMENTS = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12)
TARGETS = st.sampled_from(
    [
        "/query", "/query", "/query", "/feedback", "/feedback", "/sessions/s", "/sessions/%ff%00",
        "/sessions/%ed%a0%80", "/sessions/..%2f", "/healthz", "/readyz", "/docs", "/openapi.json",
        "/query/", "//query", "/query?%ff=%00&question=x", "/query?" + "a=b&" * 500, "*", "",
    ]
) | st.builds(lambda a, b: f"/{a}/{b}", _SEGMENTS, _SEGMENTS)  # fmt: skip
METHODS = st.sampled_from(
    ["POST", "POST", "POST", "GET", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE", "PATCH", "X"]
)

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
        feedback=FeedbackService(chosen, ParrotTaker(), service.admission),
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
