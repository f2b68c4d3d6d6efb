"""Reads the documents of an identity provider: bounded in time and size, without redirects."""

from __future__ import annotations

import json
from typing import Any

import httpx

from nl2sql.errors import Unavailable
from nl2sql.settings.jwt import check_key_url

TIMEOUT_S = 5.0
_MOST_BYTES = 1_000_000
_DISCOVERY = "/.well-known/openid-configuration"


def open_client(transport: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncClient:
    """A client for these documents; ``transport`` replaces the network, for tests."""
    return httpx.AsyncClient(timeout=TIMEOUT_S, transport=transport, follow_redirects=False)


async def read_metadata(client: httpx.AsyncClient, issuer: str) -> dict[str, Any]:
    """The discovery document of an issuer (OpenID Connect Discovery 1.0). Raises Unavailable."""
    document = await read_document(client, issuer.rstrip("/") + _DISCOVERY)
    if not isinstance(document, dict) or document.get("issuer") != issuer:
        raise Unavailable(f"The discovery document of {issuer} names another issuer.")
    return document


def find_address(document: dict[str, Any], name: str) -> str:
    """An address in a discovery document, over https or on this machine. Raises Unavailable."""
    address = str(document.get(name, ""))
    try:
        check_key_url(address)
    except ValueError as error:
        raise Unavailable(
            f"The discovery document of {document['issuer']}: {name}: {error}"
        ) from error
    return address


async def read_document(client: httpx.AsyncClient, url: str) -> Any:
    """The JSON document at an address. Raises Unavailable."""
    try:
        async with client.stream("GET", url) as response:
            if response.status_code != 200:
                raise Unavailable(f"{url} answered {response.status_code}.")
            content = b""
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > _MOST_BYTES:
                    raise Unavailable(f"{url} answered with more than {_MOST_BYTES:,} bytes.")
        return json.loads(content)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise Unavailable(
            f"The identity provider does not answer at {url} ({type(error).__name__})."
        ) from error
