"""The public keys of an identity provider (JWKS, RFC 7517): read, cached and read again.

They are read when they are first needed, when they are older than five minutes, and when a token
names an unknown key, but then at most every ten seconds. If they cannot be read again, the last
ones are used for an hour at most. Documents are read bounded in time and size, without redirects.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import jwt

from nl2sql.errors import Unavailable
from serve_app.settings.identity import JwtSettings, check_key_url

REFRESH_S = 300.0
"""Keys are read again at this age, so that one that the issuer withdrew is refused by then."""

# The least time between two attempts to read the keys.
_RETRY_S = 10.0
# How long keys are used that cannot be read again.
_MOST_AGE_S = 3600.0

# Only algorithms with a public key. With a shared secret (HS256), whoever can check a token could
# also sign one.
_ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)

ReadKeys = Callable[[], Awaitable[Any]]


class PublicKeys:
    """Finds public keys by their id."""

    def __init__(self, read: ReadKeys, *, clock: Callable[[], float] = time.monotonic) -> None:
        """``read`` returns the content of a JWKS document and raises Unavailable."""
        self._read = read
        self._clock = clock
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._read_at = -float("inf")
        self._tried_at = -float("inf")
        self._reading = asyncio.Lock()

    async def find(self, key_id: str) -> jwt.PyJWK | None:
        """The key of that id; an empty id finds the only key. Raises Unavailable."""
        if self._age() >= REFRESH_S or self._pick(key_id) is None:
            async with self._reading:
                # Another request may have read them meanwhile.
                if self._age() >= REFRESH_S or self._pick(key_id) is None:
                    await self._refresh()
        return self._pick(key_id)

    def _age(self) -> float:
        return self._clock() - self._read_at

    def _pick(self, key_id: str) -> jwt.PyJWK | None:
        if not key_id and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(key_id)

    async def _refresh(self) -> None:
        if self._clock() - self._tried_at >= _RETRY_S:
            self._tried_at = self._clock()
            try:
                self._keys = parse_keys(await self._read())
                self._read_at = self._clock()
            except Unavailable:
                if self._age() >= _MOST_AGE_S:
                    raise
        if self._age() >= _MOST_AGE_S:
            raise Unavailable("The public keys of the identity provider cannot be read now.")


async def read_keys(settings: JwtSettings) -> Any:
    """The JWKS document at the file or address of the settings, or at that of the issuer.

    Raises Unavailable.
    """
    if settings.jwks_file is not None:
        return await asyncio.to_thread(_read_file, settings.jwks_file)
    url = settings.jwks
    if not url:
        url = find_address(await read_metadata(settings.issuer), "jwks_uri")
    return await _read_document(url)


def parse_keys(document: Any) -> dict[str, jwt.PyJWK]:
    """Key id → key, for the signature keys of a JWKS document. Raises Unavailable.

    A key is for one algorithm: its own, or by its type RS256, ES256, ES384, ES512 or EdDSA. Leaves
    out keys of unknown types, secret keys (``oct``) and keys for encryption.
    """
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise Unavailable("The identity provider's document holds no public keys.")
    found: dict[str, jwt.PyJWK] = {}
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig" or "d" in entry:
            continue
        with suppress(jwt.PyJWTError, ValueError, NotImplementedError):
            key = jwt.PyJWK(entry)
            if key.algorithm_name in _ALGORITHMS:
                found[str(entry.get("kid", ""))] = key
    return found


def _read_file(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise Unavailable(f"The file of public keys {path} cannot be read: {error}") from error


TIMEOUT_S = 5.0
_MOST_BYTES = 1_000_000
_DISCOVERY = "/.well-known/openid-configuration"


async def read_metadata(issuer: str) -> dict[str, Any]:
    """The discovery document of an issuer (OpenID Connect Discovery 1.0). Raises Unavailable."""
    document = await _read_document(issuer.rstrip("/") + _DISCOVERY)
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


async def _read_document(url: str) -> Any:
    try:
        async with (
            httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False) as client,
            client.stream("GET", url) as response,
        ):
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
