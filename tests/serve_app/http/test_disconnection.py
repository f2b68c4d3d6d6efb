"""A client that leaves ends its request, all the way to the database's backend."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from starlette.types import Message

from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from nl2sql.settings import Settings
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from serve_app.http.disconnection import ClientGone, run_while_connected
from serve_app.reporting import Silence
from serve_app.service.query_service import QueryService
from tests.serve_app.echo_engine import EchoEngine

# 250 million pairs, a sum and a comparison for each: many seconds, and the guard passes it.
SLOW = (
    "SELECT count(*) FROM ticket_events AS a CROSS JOIN ticket_events AS b "
    "WHERE a.ticket_id + b.ticket_id = 0"
)


class Client:
    """The two ends of one ASGI request. It leaves when told to."""

    def __init__(self, question: str) -> None:
        self._body = json.dumps({"question": question, "k": 1}).encode()
        self._asked = False
        self._left = asyncio.Event()
        self.status = 0

    @property
    def scope(self) -> dict[str, Any]:
        headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
        return {"type": "http", "method": "POST", "path": "/query", "raw_path": b"/query",
                "query_string": b"", "headers": headers, "http_version": "1.1", "scheme": "http",
                "server": ("test", 80), "client": ("test", 1), "root_path": ""}  # fmt: skip

    async def receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.status = message.get("status", self.status)

    def leave(self) -> None:
        self._left.set()


@pytest.fixture
async def service(wiring: Wiring) -> AsyncIterator[QueryService]:
    limits = wiring.settings.limits.model_copy(
        update={"statement_timeout_ms": 60_000, "max_estimated_rows": 10**12}
    )
    settings: Settings = wiring.settings.model_copy(update={"limits": limits})
    slow = Wiring(settings, wiring.socket_folder)
    async with open_parts(slow, Silence(), engine=EchoEngine()) as parts:
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
    app = build_http_app(wiring.settings, service)
    client = Client(SLOW)
    url = embedded_server.url("demo_erp", SUPERUSER)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        request = asyncio.ensure_future(app(client.scope, client.receive, client.send))
        while not await count_active(admin):
            assert not request.done()
            await asyncio.sleep(0.01)
        start = time.monotonic()
        client.leave()
        while await count_active(admin):
            await asyncio.sleep(0.01)
            assert time.monotonic() - start < 5
        assert time.monotonic() - start < 1
        await request
    assert client.status == 499


async def test_a_client_that_stays_gets_its_answer(service: QueryService, wiring: Wiring) -> None:
    client = Client("SELECT count(*) FROM employees")
    await build_http_app(wiring.settings, service)(client.scope, client.receive, client.send)
    assert client.status == 200


async def test_work_ends_before_its_client_is_told_gone() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.append(True)

    async def leave() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.disconnect"}

    with pytest.raises(ClientGone):
        await run_while_connected(leave, work())
    assert ended == [True]


async def test_what_work_raises_is_raised_and_nobody_listens_on() -> None:
    listening = asyncio.Event()

    async def stay() -> Message:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            listening.set()
            raise
        return {"type": "http.disconnect"}

    async def work() -> None:
        await asyncio.sleep(0.01)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await run_while_connected(stay, work())
    assert listening.is_set()


async def test_a_request_that_is_cancelled_from_outside_cancels_its_work() -> None:
    cancelled = asyncio.Event()

    async def stay() -> Message:
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    request = asyncio.create_task(run_while_connected(stay, work()))
    await asyncio.sleep(0.01)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert cancelled.is_set()
