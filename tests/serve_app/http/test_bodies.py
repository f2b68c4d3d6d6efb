"""Bodies that are too large, too slow, or too many."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from serve_app.http.bodies import BoundedBodies
from tests.fakes import build_settings
from tests.serve_app.http.asgi import HOST, JSON, Exchange, build_scope
from tests.serve_app.served import build_app


class Echo:
    """Answers with the body."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        assert not message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": message["body"]})


def bound(*, timeout_s: float = 5) -> ASGIApp:
    return BoundedBodies(Echo(), 10, timeout_s=timeout_s)


@pytest.mark.parametrize(
    ("chunks", "headers", "status", "received"),
    [
        ([b"12345", b"67890"], [], 200, 2),
        ([b"12345", b"67890", b""], [], 200, 3),
        ([], [], 200, 1),
        ([b"12345", b"678901"], [], 413, 2),
        ([b"1" * 11], [], 413, 1),
        ([b"1"], [(b"content-length", b"11")], 413, 0),
        ([b"1"], [(b"content-length", b"9" * 5000)], 413, 0),
        ([b"1"], [(b"content-length", b"\xb2")], 413, 0),
        ([b"1" * 11], [(b"content-length", b"1")], 413, 1),
    ],
)
async def test_a_body_is_read_as_far_as_it_may_go(
    chunks: list[bytes], headers: list[tuple[bytes, bytes]], status: int, received: int
) -> None:
    exchange = Exchange(chunks)
    await exchange.send_to(bound(), build_scope("POST", "/", headers))
    assert (exchange.status, exchange.received) == (status, received)
    if status == 200:
        assert exchange.body == b"".join(chunks)


async def test_a_body_that_never_ends_is_given_up_however_it_drips() -> None:
    async def drip() -> Any:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"", "more_body": True}

    exchange = Exchange()
    app = bound(timeout_s=0.1)
    await asyncio.wait_for(app(build_scope("POST", "/"), drip, exchange._send), timeout=60)
    assert exchange.status == 408
    assert exchange.headers["content-type"] == "application/problem+json"


async def test_a_client_that_leaves_amid_its_body_reaches_no_route() -> None:
    async def leave() -> Any:
        return {"type": "http.disconnect"}

    exchange = Exchange()
    await bound()(build_scope("POST", "/"), leave, exchange._send)
    assert exchange.status == 0


async def test_the_limit_is_that_of_the_settings() -> None:
    app = build_app(build_settings(limits={"body_bytes": 1024}))
    large = json.dumps({"question": "x" * 1024}).encode()
    scope = build_scope("POST", "/query", [HOST, JSON])
    assert (await Exchange([large]).send_to(app, scope)).status == 413
