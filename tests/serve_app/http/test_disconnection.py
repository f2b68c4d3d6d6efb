"""A client that leaves ends its request, all the way to the database's backend."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import psycopg
import pytest
from starlette.types import Message

from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from serve_app.http.disconnection import ClientGone, run_while_connected
from serve_app.reporting import SilentReporter
from serve_app.service.query_service import QueryService
from serve_app.service.services import Services
from serve_app.settings import Settings
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.http.asgi import HOST, JSON, Exchange, build_scope
from tests.serve_app.served import NO_TOOLS
from tests.waiting import cancel

# 250 million pairs, a sum and a comparison for each: many seconds, and the guard passes it.
SLOW = (
    "SELECT count(*) FROM ticket_events AS a CROSS JOIN ticket_events AS b "
    "WHERE a.ticket_id + b.ticket_id = 0"
)


@pytest.fixture
async def service(wiring: Wiring) -> AsyncIterator[QueryService]:
    limits = wiring.settings.limits.model_copy(
        update={"statement_timeout_ms": 60_000, "max_estimated_rows": 10**12}
    )
    settings: Settings = wiring.settings.model_copy(update={"limits": limits})
    slow = Wiring(settings, wiring.socket_folder)
    async with open_parts(slow, SilentReporter(), engine=EchoEngine()) as parts:
        yield QueryService(settings, parts.build_pipeline(settings), {})


async def count_active(admin: psycopg.AsyncConnection) -> int:
    cursor = await admin.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE usename = %s AND state = 'active'", (READER,)
    )
    (count,) = await cursor.fetchone() or (0,)
    return int(count)


async def test_a_client_that_leaves_frees_its_backend(
    service: QueryService, wiring: Wiring, embedded_server: EmbeddedServer
) -> None:
    left = asyncio.Event()
    exchange = Exchange([json.dumps({"question": SLOW, "k": 1}).encode()])

    async def receive() -> Message:
        if not exchange.received:
            return await exchange._receive()
        await left.wait()
        return {"type": "http.disconnect"}

    app = build_http_app(Services(wiring.settings, service, NO_TOOLS))
    url = embedded_server.url("demo_erp", SUPERUSER)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        scope = build_scope("POST", "/query", (HOST, JSON))
        request = asyncio.ensure_future(app(scope, receive, exchange._send))
        while not await count_active(admin):
            assert not request.done()
            await asyncio.sleep(0.01)
        left.set()
        async with asyncio.timeout(5):
            while await count_active(admin):  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0.01)
        await request
    assert exchange.status == 499


async def leave() -> Message:
    await asyncio.sleep(0.01)
    return {"type": "http.disconnect"}


async def stay() -> Message:
    await asyncio.sleep(60)
    return {"type": "http.disconnect"}


async def test_work_ends_before_its_client_is_told_gone() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.append(True)

    with pytest.raises(ClientGone):
        await run_while_connected(leave, work())
    assert ended == [True]
    request = asyncio.create_task(run_while_connected(stay, work()))
    await asyncio.sleep(0.01)
    await cancel(request)
    assert ended == [True, True]


async def test_what_work_raises_is_raised() -> None:
    async def work() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await run_while_connected(stay, work())
