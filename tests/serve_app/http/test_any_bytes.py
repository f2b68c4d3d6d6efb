"""Whatever a client sends, the answer is no error of the service's, and errors are short."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from starlette.types import ASGIApp

from nl2sql.answers import Answer, Answered, Refused, Trace
from nl2sql.types import Question, ResultSet
from serve_app.http.app import build_http_app
from serve_app.service.query_service import QueryService
from serve_app.service.services import Services
from tests.fakes import build_settings
from tests.serve_app.http.asgi import HOST, JSON, Exchange, Headers, build_scope
from tests.serve_app.http.test_app import FakeProbe
from tests.serve_app.served import NO_TOOLS

_QUERY = {"question": "How many?"}


def _encode(value: Any) -> bytes:
    return json.dumps(value).encode()


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
HEADERS: tuple[Headers, ...] = (
    (),
    ((b"accept", b"text/csv;q=nan, */*;q=1e999"), (b"content-length", b"x")),
    ((b"accept", b";,;q"), (b"content-type", b"application/json; charset=\xff")),
    ((b"content-type", b"multipart/form-data"), (b"cookie", b"\xff=\xfe")),
    ((b"content-type", b"\xff"), (b"origin", b"http://localhost"), (b"if-none-match", b"*")),
    ((b"origin", b"\xff"), (b"host", b"\xff"), (b"x-forwarded-host", b"evil.io")),
    ((b"authorization", b"Bearer \xff"), (b"expect", b"100-continue"), (b"content-length", b"-1")),
)
TARGETS = (
    "/conversations/%ff%00", "/conversations/%ed%a0%80", "/conversations/..%2f", "//query", "*", "",
    "/a%2f/%00",
    "/query?%ff=%00&question=x", "/query?" + "a=b&" * 500, "/feedback", "/healthz", "/docs",
)  # fmt: skip
METHODS = ("POST", "GET", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE", "X")

_MOST_PROBLEM_BYTES = 16_384
# What a model may say, as well as a request.
_HALF = "\ud800"


class ParrotAnswerer:
    """Refuses with the question, or answers with it, in all places that hold text."""

    async def answer(self, question: Question) -> Answer:
        trace = Trace(question, asked=question.text, notes=(question.text, _HALF))
        if not question.chosen_sql:
            return Refused("off_topic", question.text + _HALF, trace, (question.evidence,))
        text = question.chosen_sql + _HALF
        result = ResultSet((text[:-1],), ("text",), ((text[:-1],),), truncated=False, ms=1.0)
        return Answered(text, result, 0.5, False, trace, text=question.text)


def build_parrot(*, with_token: bool) -> ASGIApp:
    identity = {"principals": {"ann": {"token_env": "ANN_TOKEN"}}} if with_token else {}
    chosen = build_settings(identity=identity)
    service = QueryService(chosen, ParrotAnswerer(), {"index": FakeProbe(("index", ""))})
    return build_http_app(Services(chosen, service, NO_TOOLS))


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


async def ask(
    app: ASGIApp, target: str = "/query", method: str = "POST", body: bytes = b"", *more: Any
) -> Exchange:
    scope = build_scope(method, target, (HOST, JSON, *more))
    return await Exchange([body]).send_to(app, scope)


@pytest.mark.parametrize("body", EXTREMES, ids=range(len(EXTREMES)))
async def test_no_body_is_an_error_of_the_service(
    apps: tuple[ASGIApp, ASGIApp], body: bytes
) -> None:
    """Bodies that fit the schema are sent by schemathesis."""
    check(await ask(apps[0], body=body))
    check(await ask(apps[0], "/query", "POST", body[:-3], (b"accept", b"text/csv")))


async def test_no_head_is_an_error_of_the_service(
    apps: tuple[ASGIApp, ASGIApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    token = (b"authorization", b"Bearer s3cret")
    for target, method in itertools.product((*TARGETS, "/query"), METHODS):
        check(await ask(apps[0], target, method, b"{}"))
        check(await ask(apps[1], target, method, b"{}", token))
    for headers in HEADERS:
        for base in ((HOST, JSON), (HOST, JSON, token), ()):
            scope = build_scope("POST", "/query", (*base, *headers))
            check(await Exchange([_encode(_QUERY)]).send_to(apps[1], scope))
