"""Clients that are answered in this process, without a network.

The service's own HTTP application runs here, and the client of ``quorumsql`` talks to it as it does
over a network: the same requests, events and errors. Its front (hosts, tokens) is left out; the
principal is the one that the caller names.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from nl2sql.types import Principal
from quorumsql.async_client import AsyncClient
from quorumsql.client import Client
from serve_app.composition.local import open_parts
from serve_app.composition.services import build_services
from serve_app.http.app import build_routes
from serve_app.operations.background import check_passwords
from serve_app.operations.preparation import prepare
from serve_app.reporting import SILENT, Reporter
from serve_app.service.services import Services
from serve_app.settings import Settings, load_settings

_FILE = Path("quorumsql.yaml")
_URL = "http://in-process"


def open_client(config: str | Path | None, principal: str) -> Client:
    """See ``quorumsql.open_local``."""
    settings = load_settings(Path(config) if config else _FILE)
    return Client(open_async_client(settings, principal))


async def open_async_client(
    settings: Settings, principal: str, databases: Sequence[str] = (), reporter: Reporter = SILENT
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
    reporter: Reporter = SILENT,
) -> Services:
    """Prepares everything, and opens it until ``stack`` is closed. Raises as open_async_client."""
    check_passwords(settings)
    names = list(databases or settings.databases)
    wiring = await prepare(settings, reporter, databases=names)
    parts = await stack.enter_async_context(open_parts(wiring, reporter))
    stages = parts.build_stages(settings)
    # Prompts are not prepared: the engine is this program's own, and idle when it has no question.
    return build_services(wiring, parts.engine, stages, parts.store, prepares_prompts=False)


class AppTransport(httpx.ASGITransport):
    """Hands requests to an ASGI application, as ``principal``. A response comes as a whole."""

    def __init__(
        self, app: ASGIApp, principal: Principal, stack: AsyncExitStack | None = None
    ) -> None:
        """``stack`` holds what is released when the transport is closed."""

        async def ask_as_principal(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, "state": {"principal": principal}}, receive, send)

        super().__init__(ask_as_principal)
        self._stack = stack or AsyncExitStack()

    async def aclose(self) -> None:
        """Releases what was opened."""
        await self._stack.aclose()
