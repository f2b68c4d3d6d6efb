"""Clients that are answered in this process, without a network.

The service's own HTTP application runs here, and the client of ``quorumsql`` talks to it as it does
over a network: the same requests, streams and errors. Its front (hosts, tokens) is left out; the
principal is the one that the caller names.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
from starlette.types import ASGIApp, Message, Scope

from nl2sql.settings import Settings, load_settings
from nl2sql.types import Principal
from quorumsql.async_client import AsyncClient
from quorumsql.client import Client
from serve_app.composition.local import open_engine
from serve_app.composition.services import build_services
from serve_app.composition.stages import CpuStages
from serve_app.http.app import build_routes
from serve_app.operations.preparation import prepare
from serve_app.reporting import Reporter, SilentReporter
from serve_app.service.services import Services

_FILE = Path("quorumsql.yaml")
_URL = "http://in-process"
_SILENT = SilentReporter()


def open_client(config: str | Path | None, principal: str) -> Client:
    """See ``quorumsql.open_local``."""
    settings = load_settings(Path(config) if config else _FILE)
    return Client.open(open_async_client(settings, principal))


async def open_async_client(
    settings: Settings,
    principal: str,
    databases: Sequence[str] = (),
    reporter: Reporter = _SILENT,
) -> AsyncClient:
    """Index, databases and model of the settings, ready for questions; closing releases them.

    ``databases`` are those to index, by default all. Raises SettingsError, PolicyError, ModelError,
    Unavailable.
    """
    who = settings.identity.principal(principal)
    async with AsyncExitStack() as opening:
        services = await open_services(settings, opening, databases, reporter)
        transport = AppTransport(build_routes(services), who, opening.pop_all())
    return AsyncClient(_URL, transport=transport)


async def open_services(
    settings: Settings,
    stack: AsyncExitStack,
    databases: Sequence[str] = (),
    reporter: Reporter = _SILENT,
) -> Services:
    """Prepares everything, and opens it until ``stack`` is closed. Raises as open_async_client."""
    names = list(databases or settings.databases)
    wiring = await prepare(settings, reporter, databases=names)
    engine = await stack.enter_async_context(open_engine(wiring, reporter))
    store = wiring.build_index_store()
    stack.push_async_callback(store.close)
    executor = wiring.build_executor()
    stack.push_async_callback(executor.close)
    stages = CpuStages.build_here(wiring, engine, store, executor)
    # Prompts are not prepared: the engine is this program's own, and idle when it has no question.
    return build_services(wiring, engine, stages, store, prepares_prompts=False)


class AppTransport(httpx.AsyncBaseTransport):
    """Hands requests to an ASGI application, as ``principal``; responses stream.

    httpx's own ASGITransport collects a response before it returns it.
    """

    def __init__(
        self, app: ASGIApp, principal: Principal, stack: AsyncExitStack | None = None
    ) -> None:
        """``stack`` holds what is released when the transport is closed."""
        self._app = app
        self._principal = principal
        self._stack = stack or AsyncExitStack()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Returns when the response begins."""
        call = _Call(await request.aread())
        call.task = asyncio.create_task(self._run(request, call))
        start = await call.begin()
        return httpx.Response(start["status"], headers=start["headers"], stream=_Stream(call))

    async def aclose(self) -> None:
        """Releases what was opened."""
        await self._stack.aclose()

    async def _run(self, request: httpx.Request, call: _Call) -> None:
        await self._app(self._build_scope(request), call.receive, call.send)

    def _build_scope(self, request: httpx.Request) -> Scope:
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.url.scheme,
            "path": request.url.path,
            "raw_path": request.url.raw_path,
            "query_string": request.url.query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "server": (request.url.host, 80),
            "client": ("in-process", 1),
            "state": {"principal": self._principal},
        }


class _Call:
    """One request under way."""

    task: asyncio.Task[None]

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._left = asyncio.Event()

    async def receive(self) -> Message:
        """The body, then nothing until the client leaves."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """What the application sends."""
        await self._messages.put(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            await self._messages.put(None)

    async def begin(self) -> Message:
        """The start of the response. Raises what the application raises before it."""
        waiting = asyncio.create_task(self._messages.get())
        await asyncio.wait({waiting, self.task}, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            self.task.result()
            raise httpx.RemoteProtocolError("The application sent no response.")
        message = waiting.result()
        assert message is not None
        return message

    async def read(self) -> AsyncIterator[bytes]:
        """The body, piece by piece."""
        while (message := await self._messages.get()) is not None:
            if body := message.get("body", b""):
                yield body

    async def leave(self) -> None:
        """The client is gone; returns when the application has noticed."""
        self._left.set()
        self.task.cancel()
        await asyncio.wait({self.task})


class _Stream(httpx.AsyncByteStream):
    def __init__(self, call: _Call) -> None:
        self._call = call

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._call.read()

    async def aclose(self) -> None:
        await self._call.leave()
