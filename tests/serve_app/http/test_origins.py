"""Hosts, origins, the order in which a request is refused, and what every response says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from serve_app.http.origins import HostRule
from tests.fakes import FakeGenerator, build_settings
from tests.serve_app.http.asgi import HOST, JSON, Exchange, Headers, build_scope
from tests.serve_app.served import build_app, connect

EVIL = (b"host", b"evil.io")
BODY = json.dumps({"question": "Q?"}).encode()


async def post(*headers: tuple[bytes, bytes], **settings: Any) -> Exchange:
    app = build_app(build_settings(**settings), generator=FakeGenerator(reason="Not about this."))
    return await Exchange([BODY]).send_to(app, build_scope("POST", "/query", [*headers, JSON]))


@pytest.mark.parametrize("headers", [[EVIL], [], [HOST, HOST], [HOST, EVIL]])
async def test_a_foreign_host_is_refused_before_anything_else(headers: Headers) -> None:
    exchange = Exchange([BODY])
    await exchange.send_to(build_app(), build_scope("POST", "/query", headers))
    assert (exchange.status, exchange.received) == (421, 0)
    assert exchange.headers["content-type"] == "application/problem+json"
    assert "serve.allowed_hosts" in exchange.body.decode()


async def test_a_host_of_the_settings_is_answered() -> None:
    assert (await post(EVIL, serve={"allowed_hosts": ["evil.io"]})).status == 200
    assert (await post(EVIL, serve={"host": "evil.io"})).status == 200
    assert (await post(HOST, serve={"host": "0.0.0.0"})).status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://localhost"}, 200),
        ({"origin": "http://evil.io"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:3000"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "https://app.example.com"}, 200),
    ],
)
async def test_a_foreign_page_is_refused(headers: dict[str, str], status: int) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    settings = {"allowed_origins": ["https://app.example.com"]}
    assert (await post(HOST, *raw, serve=settings)).status == status


async def test_a_link_from_elsewhere_opens_a_page() -> None:
    headers = {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
    }
    async with connect(build_app()) as client:
        assert (await client.get("/docs", headers=headers)).status_code == 200
        headers["sec-fetch-dest"] = "iframe"
        assert (await client.get("/docs", headers=headers)).status_code == 403


async def test_a_page_that_is_allowed_may_read_what_it_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    settings = build_settings(
        serve={"allowed_origins": ["https://app.example.com"]},
        identity={"principals": {"ann": {"token_env": "ANN_TOKEN"}}},
    )
    asks = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
    }
    async with connect(build_app(settings, generator=FakeGenerator(reason="No."))) as client:
        for origin, status in (("https://app.example.com", 200), ("https://evil.io", 403)):
            response = await client.options("/query", headers={"origin": origin, **asks})
            assert response.status_code == status
            allowed = response.headers.get("access-control-allow-origin")
            assert allowed == (origin if status == 200 else None)
        headers = {"origin": "https://app.example.com"}
        refused = await client.post("/query", json={"question": "Q?"}, headers=headers)
        assert refused.status_code == 401
        headers["authorization"] = "Bearer s3cret"
        answered = await client.post("/query", json={"question": "Q?"}, headers=headers)
        assert answered.status_code == 200
        assert answered.headers["access-control-allow-origin"] == "https://app.example.com"
        assert "QuorumSQL-SQL" in answered.headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/healthz"), ("GET", "/docs"), ("GET", "/no"), ("PUT", "/query"), ("POST", "/query")],
)
async def test_no_response_is_guessed_or_kept(method: str, path: str) -> None:
    async with connect(build_app()) as client:
        response = await client.request(method, path)
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "no-store"


async def test_a_websocket_is_closed() -> None:
    sent = []

    async def receive() -> Any:
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await build_app()({**build_scope("GET", "/query"), "type": "websocket"}, receive, send)
    assert sent == ["websocket.close"]


# -- the rules -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "LOCALHOST:8000", "localhost.", "a.localhost", "127.0.0.1", "127.0.0.1:8000",
        "10.1.2.3:1", "[::1]", "[::1]:8000", "[fe80::1]", "desk", "sql.example.com",
        "a.wild.example.com", "a.b.wild.example.com:443",
    ],
)  # fmt: skip
def test_own_names_and_addresses_are_answered(host: str) -> None:
    assert HostRule(["SQL.example.com", "*.wild.example.com"], machine="Desk").allows(host)


@pytest.mark.parametrize(
    "host",
    [
        "", "evil.io", "localhost.evil.io", "evillocalhost", "127.0.0.1.evil.io", "127.1", "0x7f.1",
        "wild.example.com", "evilwild.example.com", "x.sql.example.com", "localhost@evil.io",
        "localhost, evil.io", "localhost/", "localhost:x", "localhost:123456", "[::1", "::1",
        "[localhost]", "[1.2.3.4]x", "\xff", "*", "*.wild.example.com", "a b", ".", "a" * 300,
    ],
)  # fmt: skip
def test_other_names_are_not(host: str) -> None:
    assert not HostRule(["sql.example.com", "*.wild.example.com"], machine="desk").allows(host)


def test_a_star_answers_to_any_name_that_is_one() -> None:
    assert HostRule(["*"], machine="desk").allows("evil.io")
    assert not HostRule(["*"], machine="desk").allows("a b")


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (None, "h", True),
        ("http://h", "h", True),
        ("https://h:8000", "h:8000", True),
        ("http://H:1", "h:1", True),
        ("https://app.example.com", "h", True),
        ("http://app.example.com", "h", False),
        ("https://app.example.com:444", "h", False),
        ("http://h:1", "h:2", False),
        ("http://evil.io", "h", False),
        ("null", "h", False),
        ("", "h", False),
        ("http://h, http://h", "h", False),
        ("file://h", "h", False),
        ("h", "h", False),
    ],
)
async def test_only_own_and_listed_pages_ask(origin: str | None, host: str, allowed: bool) -> None:
    named = () if origin is None else ((b"origin", origin.encode()),)
    serve = {"allowed_hosts": ["*"], "allowed_origins": ["https://app.example.com"]}
    answered = await post((b"host", host.encode()), *named, serve=serve)
    assert answered.status == (200 if allowed else 403)
