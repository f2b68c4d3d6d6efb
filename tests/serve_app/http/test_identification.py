"""The token is asked for before a byte of the body, and by every route but the probes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from retrieval.examples.feedback import FeedbackReceipt
from tests.fakes import FakeConversations, FakeGenerator, build_settings
from tests.serve_app.http.asgi import HOST, JSON, Exchange, build_scope
from tests.serve_app.http.test_app import FakeProbe
from tests.serve_app.http.test_feedback import FakeTaker
from tests.serve_app.served import build_app

ROUTES = [
    ("POST", "/query"),
    ("POST", "/feedback"),
    ("GET", "/docs"),
    ("GET", "/redoc"),
    ("GET", "/openapi.json"),
    ("GET", "/no/such/path"),
    ("GET", "/healthz/"),
    ("OPTIONS", "/query"),
]


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    monkeypatch.setenv("BOB_TOKEN", "s3cret-too")
    principals = {name: {"token_env": f"{name.upper()}_TOKEN"} for name in ("ann", "bob")}
    return build_app(
        build_settings(identity={"principals": principals}),
        generator=FakeGenerator(reason="No."),
        sessions=FakeConversations(),
        taker=FakeTaker(FeedbackReceipt("recorded")),
        probe=FakeProbe(("index", "down")),
    )


def add_host(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers with a host of the service, unless they name one."""
    return headers if b"host" in dict(headers) else [HOST, *headers]


def bearer(token: bytes) -> tuple[bytes, bytes]:
    return (b"authorization", b"Bearer " + token)


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "headers",
    [
        [],
        [bearer(b"wrong")],
        [bearer(b"s3cre")],
        [bearer(b"s3cret"), bearer(b"s3cret")],
        [bearer(b"s3cret"), bearer(b"s3cret-too")],
        [bearer(b"\xff\xfe")],
        [(b"authorization", b"Basic s3cret")],
        [(b"authorization", b"s3cret")],
        [(b"authorization", b"Bearer")],
        [(b"authorization", b"")],
    ],
    ids=str,
)
async def test_without_a_token_not_a_byte_of_the_body_is_read(
    app: Any, method: str, path: str, headers: list[tuple[bytes, bytes]]
) -> None:
    exchange = Exchange(ends=False)
    all_headers = [HOST, JSON, (b"content-length", b"100"), *headers]
    await exchange.send_to(app, build_scope(method, path, all_headers))
    assert (exchange.status, exchange.received) == (401, 0)
    assert exchange.headers["www-authenticate"] == "Bearer"
    # The rest of its body can still be sent: closed amid it, a client would miss the answer.
    assert "connection" not in exchange.headers
    assert exchange.headers["content-type"] == "application/problem+json"
    assert "Authorization: Bearer" in json.loads(exchange.body)["detail"]


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
async def test_without_a_token_little_is_read_to_sign_in(app: Any, path: str) -> None:
    headers = [HOST, JSON, (b"content-length", b"40000")]
    exchange = Exchange([b"x" * 40_000], ends=False)
    await exchange.send_to(app, build_scope("POST", path, headers))
    assert (exchange.status, exchange.received) == (413, 0)


async def test_unfinished_sign_ins_displace_only_one_another(app: Any) -> None:
    async def send(path: str, *headers: tuple[bytes, bytes]) -> int:
        exchange = Exchange(ends=False)
        await exchange.send_to(app, build_scope("POST", path, [HOST, JSON, *headers]))
        return exchange.status

    question = asyncio.create_task(send("/query", bearer(b"s3cret")))
    await asyncio.sleep(0.05)
    sign_ins = [asyncio.create_task(send("/sign-in")) for _ in range(500)]
    ended = await asyncio.wait_for(asyncio.gather(*sign_ins[:-32]), 60)
    await asyncio.sleep(0.05)
    assert ({*ended}, question.done()) == ({408}, False)
    assert not any(task.done() for task in sign_ins[-32:])
    for task in (question, *sign_ins):
        task.cancel()


async def test_with_a_token_all_routes_are_there(app: Any) -> None:
    body = {"question": "Q?", "sql": "SELECT 1", "verdict": "right"}
    seen = {}
    for method, path in ROUTES:
        content = [json.dumps({k: body[k] for k in ("question",)} if path == "/query" else body)]
        exchange = Exchange([each.encode() for each in content])
        await exchange.send_to(app, build_scope(method, path, [HOST, JSON, bearer(b"s3cret-too")]))
        seen[method, path] = exchange.status
    assert [seen[route] for route in ROUTES] == [200, 202, 200, 200, 200, 404, 307, 405]


async def test_probes_need_none_and_say_more_with_one(app: Any) -> None:
    for headers, expected in (
        ([], {"ready": False}),
        ([bearer(b"wrong")], {"ready": False}),
        ([bearer(b"s3cret")], {"ready": False, "parts": {"index": "down"}}),
        ([bearer(b"s3cret"), (b"host", b"evil.io")], {"ready": False}),
    ):
        alive = await Exchange().send_to(app, build_scope("GET", "/healthz", add_host(headers)))
        assert (alive.status, alive.body) == (200, b'{"status":"alive"}')
        ready = await Exchange().send_to(app, build_scope("GET", "/readyz", add_host(headers)))
        told = json.loads(ready.body)
        assert (ready.status, {name: told[name] for name in expected}) == (503, expected)
        assert ("parts" in told) == ("parts" in expected) == (told != {"ready": False})
