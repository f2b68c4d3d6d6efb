"""The four ways to a client: over HTTP or in this process, with or without an event loop."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from quorumsql.async_client import AsyncClient
from quorumsql.client import Client
from quorumsql.errors import QuorumError

# The distribution that answers in process; the client alone must not need it.
_IN_PROCESS = "serve_app.in_process"


def connect(url: str | None = None, token: str | None = None) -> Client:
    """A client of the service at ``url``; default: QUORUMSQL_URL, or this machine's port 8000.

    ``token`` says who asks; default: QUORUMSQL_TOKEN. Nothing is sent before the first question.
    """
    return Client(url, token)


def connect_async(url: str | None = None, token: str | None = None) -> AsyncClient:
    """As ``connect``, for a program with an event loop."""
    return AsyncClient(url, token)


def open_local(config: str | Path | None = None, principal: str = "") -> Client:
    """A client that answers in this process: index, databases and model are opened here.

    ``config`` is the settings file (default: quorumsql.yaml in this folder), ``principal`` the name
    of who asks (default: the local one). Close the client to release the model. Raises QuorumError.
    """
    client: Client = _load("open_client")(config, principal)
    return client


async def open_local_async(config: str | Path | None = None, principal: str = "") -> AsyncClient:
    """As ``open_local``, for a program with an event loop."""
    client: AsyncClient = await _load("open_async_client")(config, principal)
    return client


def _load(name: str) -> Any:
    try:
        return getattr(import_module(_IN_PROCESS), name)
    except ModuleNotFoundError as error:
        if error.name not in (_IN_PROCESS, _IN_PROCESS.partition(".")[0]):
            raise
        raise QuorumError(
            "To answer in this process the whole of QuorumSQL is needed.",
            hint="Install it: pip install quorumsql. Or connect to a service.",
        ) from error
