"""What the proxy takes off a request."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send
from uvicorn.importer import import_from_string

from serve_app.http import proxy
from serve_app.http.middleware import add_middleware
from serve_app.http.proxy_settings import prepare_proxy
from serve_app.settings import load_settings
from tests.fakes import FakeGenerator, build_settings
from tests.serve_app.http.asgi import HOST, JSON, Exchange, build_scope
from tests.serve_app.served import build_app

PREFLIGHT = (
    (b"origin", b"https://app.example.com"),
    (b"access-control-request-method", b"POST"),
)

TRACEPARENT = (b"traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")


async def pass_through(*headers: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)

    async def never(*_: Any) -> Any:
        raise AssertionError

    await proxy.PlainHeaders(app)({"type": "http", "headers": list(headers)}, never, never)
    return list(seen[0]["headers"])


async def respond(
    status: int, content_type: str, *bodies: bytes, is_cut: bool = False
) -> httpx.Response:
    """What a client gets of a response that Ray's proxy sends, or only the start of it."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if not status:
            return
        headers = [(b"content-type", content_type.encode())] if content_type else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if is_cut:
            return
        for body in bodies:
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    transport = httpx.ASGITransport(app=proxy.ReplicaFailures(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://proxy") as client:
        return await client.get("/query")


@pytest.mark.parametrize(
    ("status", "content_type", "is_cut"),
    [
        *((status, "text/plain; charset=utf-8", False) for status in (404, 408, 500, 503)),
        *[(500, "text/plain", False), (500, "", False), (0, "", False)],
        # The replica took its proxy's death for the client's.
        (499, "application/problem+json", False),
        *((status, "application/problem+json", True) for status in (200, 503)),
    ],
)
async def test_a_lost_replica_is_an_error_to_try_again(
    status: int, content_type: str, is_cut: bool
) -> None:
    response = await respond(status, content_type, b"Traceback ", b"/opt/secret.py", is_cut=is_cut)
    assert (response.status_code, response.headers["retry-after"]) == (503, "5")
    assert response.json()["detail"] == "The service lost a process; try again."


@pytest.mark.parametrize(
    ("status", "content_type"),
    [
        (200, "text/plain"),
        (404, "application/problem+json"),
        (500, "application/problem+json"),
        (200, ""),
    ],
)
async def test_other_responses_pass(status: int, content_type: str) -> None:
    response = await respond(status, content_type, b"a", b"b")
    assert (response.status_code, response.content) == (status, b"ab")
    assert response.headers.get("content-type", "") == content_type


OWN_NAMES = (
    "x-request-timeout-seconds X-Request-Disconnect-Disabled serve_multiplexed_model_id "
    "serve-multiplexed-model-id x-session-id x_session_id"
).split()


async def test_headers_that_only_ray_sets_or_cannot_read_are_dropped() -> None:
    name, value = TRACEPARENT
    kept = [(b"accept", b"\xff"), (b"x-request-id", b"3f-7.b_C"), TRACEPARENT]
    assert await pass_through(*kept) == kept
    # Sampled, whatever the client says.
    for flags in (b"00", b"ff"):
        assert await pass_through((name, value[:-2] + flags)) == [TRACEPARENT]
    dropped = [(each.encode(), b"\xff") for each in OWN_NAMES]
    dropped += [(b"x-request-id", each) for each in (b"\xff", b"a b", b"", b"a" * 129)]
    dropped += [(name, each) for each in (b"\xff", b"", value + b"-more", value.upper())]
    for header in dropped:
        assert await pass_through(header) == []


def test_ray_is_told_of_the_callback_and_the_callback_of_the_settings(tmp_path: Path) -> None:
    environ: dict[str, str] = {}
    settings = build_settings(
        serve={"allowed_hosts": ["*.example.com"]},
        limits={"body_bytes": 2048},
        identity={"principals": {"ann": {"token_env": "ANN_TOKEN", "attributes": {"a": [1]}}}},
    )
    prepare_proxy(settings, tmp_path / "home", environ)
    callback = environ["RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"]
    assert import_from_string(callback) is proxy.build_middlewares
    read = load_settings(Path(environ["QUORUMSQL_SETTINGS"]))
    for section in ("serve", "limits", "identity", "page"):
        assert getattr(read, section) == getattr(settings, section)


def drop_durations(body: bytes) -> bytes:
    return re.sub(rb'_(m?s)":[\d.]+', b"", body)


async def test_passing_twice_is_passing_once() -> None:
    settings = build_settings(serve={"allowed_origins": ["https://app.example.com"]})
    once = build_app(settings, generator=FakeGenerator(reason="No."))
    twice = add_middleware(
        build_app(settings, generator=FakeGenerator(reason="No.")),
        settings,
    )
    requests = [
        ("POST", "/query", [b'{"question": "Q?"}'], (HOST, JSON)),
        ("POST", "/query", [b'{"question": ', b'"Q?"}'], (HOST, JSON, (b"content-length", b"19"))),
        ("POST", "/query", [b"x" * 70_000], (HOST, JSON)),
        ("OPTIONS", "/query", [], (HOST, *PREFLIGHT)),
        ("GET", "/readyz", [], (HOST, PREFLIGHT[0])),
        ("GET", "/healthz", [], ((b"host", b"evil.io"), (b"content-length", b"3"))),
        ("GET", "/docs", [], ((b"host", b"evil.io"),)),
    ]  # fmt: skip
    for method, path, chunks, headers in requests:
        scope = build_scope(method, path, (*headers, TRACEPARENT))
        first = await Exchange(chunks).send_to(once, scope)
        second = await Exchange(chunks).send_to(twice, scope)
        second.headers["vary"] = first.headers.get("vary", "")
        first.headers.setdefault("vary", "")
        # Durations have as many digits as it happens.
        for answer in (first, second):
            answer.headers.pop("content-length", None)
        assert (first.status, first.headers) == (second.status, second.headers)
        assert drop_durations(first.body) == drop_durations(second.body)


def test_ray_reads_that_variable_and_those_headers() -> None:
    from ray.serve._private import constants

    assert hasattr(constants, "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH")
    rays = {
        constants.SERVE_MULTIPLEXED_MODEL_ID,
        constants.SERVE_SESSION_ID,
        constants.SERVE_HTTP_REQUEST_TIMEOUT_S_HEADER,
        constants.SERVE_HTTP_REQUEST_DISCONNECT_DISABLED_HEADER,
    }
    assert {name.replace("_", "-").encode() for name in rays} == proxy._RAY_HEADERS
