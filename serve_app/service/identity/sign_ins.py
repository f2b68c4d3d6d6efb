"""Signing in on the page: a token once, or an identity provider, then a cookie until it ends.

A sign-in never outlives what it was made with: a revoked or expired API key, a changed static
token, an expired signed token or another provider in the settings ends it. Knows nothing of HTTP.

A sign-in that is pending at an identity provider has one random secret, in a cookie of that browser
alone. The state, the nonce and the code verifier of the request follow from it, so that whatever
returns with another secret is refused by any replica, and none has to store anything.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import math
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from cachetools import LRUCache

from nl2sql.errors import LimitReached, Unauthenticated
from nl2sql.types import Principal
from retrieval.index_store.credentials import PREFIX, ApiKeyStore, SignIn, SignInStore
from serve_app.service.identity.jwt_verifier import JwtVerifier
from serve_app.service.identity.static_tokens import build_unknown
from serve_app.service.request_checks import NotFound
from serve_app.settings.identity import IdentitySettings

if TYPE_CHECKING:
    # Loaded only where people sign in at a provider: it brings Authlib.
    from serve_app.service.identity.provider import ProviderLogin

HOME = "/"
# The page is at "/"; its views are in the fragment. Nothing else is led to, so no other host.
_PLACE = re.compile(r"/(?:[?#][A-Za-z0-9_~!$&'()*+,=:@%/?#.-]{0,1000})?")
_COOKIE = re.compile(r"([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{0,1400})")


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """One sign-in; ``place`` is the address in the page to which the browser returns."""

    secret: str
    place: str

    @property
    def state(self) -> str:
        """What the provider returns with the code (RFC 6749, section 10.12)."""
        return self._derive("state")

    @property
    def nonce(self) -> str:
        """What the ID token must contain (OpenID Connect Core, section 3.1.2.1)."""
        return self._derive("nonce")

    @property
    def code_verifier(self) -> str:
        """What proves that the code was asked for here (PKCE, RFC 7636)."""
        return self._derive("code_verifier")

    def _derive(self, purpose: str) -> str:
        digest = hmac.digest(self.secret.encode(), purpose.encode(), hashlib.sha256)
        return _encode(digest)

    def write(self) -> str:
        """The value of the cookie."""
        return f"{self.secret}.{_encode(self.place.encode())}"


def begin_sign_in(place: str) -> PendingSignIn:
    """A new sign-in, which leads back to ``place`` if that is an address in the page."""
    return PendingSignIn(secrets.token_urlsafe(32), choose_place(place))


def read_pending_sign_in(cookie: str) -> PendingSignIn | None:
    """The sign-in of a cookie; None for any other text."""
    found = _COOKIE.fullmatch(cookie)
    if found is None:
        return None
    padded = found[2] + "=" * (-len(found[2]) % 4)
    try:
        place = base64.urlsafe_b64decode(padded).decode("ascii")
    except ValueError:
        return None
    return PendingSignIn(found[1], choose_place(place))


def choose_place(place: str) -> str:
    """``place`` if it is an address in the page, else the page's beginning.

    >>> choose_place("/#/schema/shop?table=orders"), choose_place("//evil.io"), choose_place("/me")
    ('/#/schema/shop?table=orders', '/', '/')
    """
    return place if _PLACE.fullmatch(place) else HOME


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")


MOST_FAILURES = 10
PAUSE_S = 60.0
# Others are forgotten, so that many addresses cannot fill the memory.
_MOST_CLIENTS = 10_000
# Whoever has one address of IPv6 has a whole network of this size.
_NETWORK_BITS = 64


class GuessLimit:
    """After ten failures, a client waits for a minute from the last of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # A client → how often it failed, and when it failed last.
        self._failures: LRUCache[str, tuple[int, float]] = LRUCache(_MOST_CLIENTS)

    @contextmanager
    def attempt(self, address: str) -> Iterator[None]:
        """An attempt of a client with that address, which fails if it raises Unauthenticated.

        Raises LimitReached if the client may not try now.
        """
        client, now = _name_client(address), self._clock()
        count, last = self._failures.get(client, (0, now))
        wait_s = last + PAUSE_S - now
        if wait_s <= 0:
            count = 0
        elif count >= MOST_FAILURES:
            raise LimitReached(
                "Too many attempts to sign in have failed.",
                retry_after_s=wait_s,
                hint=f"Try again in {math.ceil(wait_s)} seconds.",
            )
        # Counted before the outcome is known: many attempts may be made at once.
        self._failures[client] = (count + 1, now)
        has_failed = False
        try:
            yield
        except Unauthenticated:
            has_failed = True
            raise
        finally:
            if not has_failed:
                count, last = self._failures.get(client, (1, now))
                self._failures[client] = (max(count - 1, 0), last)


def _name_client(address: str) -> str:
    """The address, or its network where clients have many addresses.

    >>> _name_client("192.0.2.7"), _name_client("2001:db8:1:2:3::4"), _name_client("")
    ('192.0.2.7', '2001:db8:1:2::/64', '')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(ipaddress.ip_network((found, _NETWORK_BITS), strict=False))


@dataclass(frozen=True, slots=True)
class SignIns:
    """Makes and ends sign-ins, and finds the principal of one. Methods raise Unavailable.

    A sign-in ends after ``hours``.
    """

    settings: IdentitySettings
    store: SignInStore
    _: KW_ONLY
    hours: int
    keys: ApiKeyStore | None = None
    verifier: JwtVerifier | None = None
    provider: ProviderLogin | None = None
    _guesses: GuessLimit = field(default_factory=GuessLimit, init=False)

    async def sign_in(self, token: str, address: str = "") -> tuple[str, float]:
        """Signs in with a token that requests may carry too: the cookie, and how long it lasts.

        ``address`` is the client's: after many wrong tokens it has to wait. Raises Unauthenticated,
        LimitReached.
        """
        with self._guesses.attempt(address):
            sign_in, expires_at = await read_token(token, self.settings, self.keys, self.verifier)
            lasts_s = min(self.hours * 3600.0, expires_at - time.time())
            if lasts_s < 1:
                # Tokens are accepted for some seconds more, because clocks differ.
                raise Unauthenticated("The signed token is refused: it has expired.")
            return await self.store.create(sign_in, lasts_s=lasts_s), lasts_s

    async def finish(
        self,
        pending: PendingSignIn | None,
        redirect_uri: str,
        returned: Mapping[str, str],
        address: str = "",
    ) -> tuple[str, float]:
        """As ``sign_in``, whom the identity provider names. See ``ProviderLogin.finish``.

        Raises Unauthenticated, LimitReached; NotFound if there is no provider.
        """
        provider = self.find_provider()
        with self._guesses.attempt(address):
            principal = await provider.finish(pending, redirect_uri, returned)
        sign_in, lasts_s = SignIn("provider", self._client(), principal), self.hours * 3600.0
        return await self.store.create(sign_in, lasts_s=lasts_s), lasts_s

    def find_provider(self) -> ProviderLogin:
        """The identity provider. Raises NotFound if people cannot sign in at one."""
        if self.provider is None:
            raise NotFound("No identity provider is configured.", field="path")
        return self.provider

    async def identify(self, cookie: str) -> Principal:
        """The principal of a sign-in. Raises Unauthenticated if it has ended."""
        found = await self.store.find(cookie)
        principal = await self._find_principal(found) if found is not None else None
        if principal is None:
            raise Unauthenticated("The sign-in has ended: sign in again.")
        return principal

    async def end(self, cookie: str) -> None:
        """Signs out, if it is the cookie of a sign-in."""
        if cookie:
            await self.store.end(cookie)

    async def end_all(self, principal: Principal) -> None:
        """Signs the principal out everywhere."""
        await self.store.end_all(principal.name)

    async def _find_principal(self, sign_in: SignIn) -> Principal | None:
        match sign_in.kind:
            case "key":
                key = await self.keys.find_by_id(sign_in.credential) if self.keys else None
                return key.principal if key is not None else None
            case "signed" | "provider" as kind:
                known = self.settings.jwt.issuer if kind == "signed" else self._client()
                return sign_in.principal if sign_in.credential == known else None
            case "static":
                return self._find_static(sign_in)

    def _find_static(self, sign_in: SignIn) -> Principal | None:
        """As the settings are now: roles may have been taken away."""
        own = self.settings.principals.get(sign_in.principal.name)
        token = os.environ.get(own.token_env, "") if own is not None else ""
        if not token or not secrets.compare_digest(_hash(token), sign_in.credential):
            return None
        return self.settings.principal(sign_in.principal.name)

    def _client(self) -> str:
        """The provider and this service's name there; sign-ins at others have ended."""
        return f"{self.settings.jwt.issuer} {self.settings.login.client_id}"


async def read_token(
    token: str, settings: IdentitySettings, keys: ApiKeyStore | None, verifier: JwtVerifier | None
) -> tuple[SignIn, float]:
    """The sign-in that a token would make, with its principal, and when the token expires.

    That is in seconds since 1970; infinite where each request looks whether it still counts. Raises
    Unauthenticated, Unavailable.
    """
    if (principal := settings.find_by_token(token)) is not None:
        return SignIn("static", _hash(token), principal), math.inf
    if keys is not None and token.startswith(PREFIX):
        if (key := await keys.find(token)) is not None:
            return SignIn("key", key.id, key.principal), math.inf
    elif verifier is not None and token.count(".") == 2:
        signed = await verifier.read(token)
        return SignIn("signed", settings.jwt.issuer, signed.principal), signed.expires_at
    raise build_unknown()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
