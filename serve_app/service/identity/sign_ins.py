"""Signing in on the page: a token once, or an identity provider, then a cookie until it ends.

A sign-in never outlives what it was made with: a revoked or expired API key, a changed static
token, an expired signed token or another provider in the settings ends it. Knows nothing of HTTP.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nl2sql.errors import Unauthenticated
from nl2sql.settings.identity import IdentitySettings
from nl2sql.types import Principal
from retrieval.index_store.credentials import PREFIX, ApiKeyStore, SignIn, SignInStore
from serve_app.service.identity.guessing import GuessLimit
from serve_app.service.identity.jwt_verifier import JwtVerifier
from serve_app.service.identity.pending_sign_in import PendingSignIn
from serve_app.service.identity.static_tokens import build_unknown
from serve_app.service.request_checks import NotFound

if TYPE_CHECKING:
    # Loaded only where people sign in at a provider: it brings Authlib.
    from serve_app.service.identity.provider import ProviderLogin


@dataclass(frozen=True, slots=True)
class NewSignIn:
    """The cookie of a sign-in, and for how many seconds it lasts."""

    cookie: str
    lasts_s: float


class SignIns:
    """Makes and ends sign-ins, and finds the principal of one. Methods raise Unavailable."""

    def __init__(
        self,
        settings: IdentitySettings,
        store: SignInStore,
        *,
        hours: int,
        keys: ApiKeyStore | None = None,
        verifier: JwtVerifier | None = None,
        provider: ProviderLogin | None = None,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """A sign-in ends after ``hours``. ``clock`` tells seconds since 1970."""
        self._settings = settings
        self._store = store
        self._lasts_s = hours * 3600.0
        self._keys = keys
        self._verifier = verifier
        self._environ = environ
        self._clock = clock
        self._provider = provider
        self._guesses = GuessLimit()

    async def sign_in(self, token: str, address: str = "") -> NewSignIn:
        """Signs in with a token that requests may carry too.

        ``address`` is the client's: after many wrong tokens it has to wait. Raises Unauthenticated,
        LimitReached.
        """
        with self._guesses.attempt(address):
            return await self._sign_in(token)

    async def finish(
        self,
        pending: PendingSignIn | None,
        redirect_uri: str,
        returned: Mapping[str, str],
        address: str = "",
    ) -> NewSignIn:
        """Signs in whom the identity provider names. See ``ProviderLogin.finish``.

        Raises Unauthenticated, LimitReached; NotFound if there is no provider.
        """
        provider = self.find_provider()
        with self._guesses.attempt(address):
            principal = await provider.finish(pending, redirect_uri, returned)
        return await self._create(SignIn("provider", self._client(), principal), self._lasts_s)

    def find_provider(self) -> ProviderLogin:
        """The identity provider. Raises NotFound if people cannot sign in at one."""
        if self._provider is None:
            raise NotFound("No identity provider is configured.", field="path")
        return self._provider

    async def _sign_in(self, token: str) -> NewSignIn:
        lasts_s = self._lasts_s
        if (principal := self._settings.find_by_token(token, self._environ)) is not None:
            sign_in = SignIn("static", _hash(token), principal)
        elif self._keys is not None and token.startswith(PREFIX):
            key = await self._keys.find(token)
            if key is None:
                raise build_unknown()
            sign_in = SignIn("key", key.id, key.principal)
        elif self._verifier is not None and token.count(".") == 2:
            signed = await self._verifier.read(token)
            sign_in = SignIn("signed", self._settings.jwt.issuer, signed.principal)
            lasts_s = min(lasts_s, signed.expires_at - self._clock())
            if lasts_s < 1:
                # Tokens are accepted for some seconds more, because clocks differ.
                raise Unauthenticated("The signed token is refused: it has expired.")
        else:
            raise build_unknown()
        return await self._create(sign_in, lasts_s)

    async def _create(self, sign_in: SignIn, lasts_s: float) -> NewSignIn:
        return NewSignIn(await self._store.create(sign_in, lasts_s=lasts_s), lasts_s)

    async def identify(self, cookie: str) -> Principal:
        """The principal of a sign-in. Raises Unauthenticated if it has ended."""
        found = await self._store.find(cookie)
        principal = await self._find_principal(found) if found is not None else None
        if principal is None:
            raise Unauthenticated("The sign-in has ended: sign in again.")
        return principal

    async def end(self, cookie: str) -> None:
        """Signs out, if it is the cookie of a sign-in."""
        if cookie:
            await self._store.end(cookie)

    async def end_all(self, principal: Principal) -> None:
        """Signs the principal out everywhere."""
        await self._store.end_all(principal.name)

    async def _find_principal(self, sign_in: SignIn) -> Principal | None:
        match sign_in.kind:
            case "key":
                key = await self._keys.find_by_id(sign_in.credential) if self._keys else None
                return key.principal if key is not None else None
            case "signed":
                is_known = sign_in.credential == self._settings.jwt.issuer
                return sign_in.principal if is_known else None
            case "provider":
                is_known = sign_in.credential == self._client()
                return sign_in.principal if is_known else None
            case "static":
                return self._find_static(sign_in)

    def _find_static(self, sign_in: SignIn) -> Principal | None:
        """As the settings are now: roles may have been taken away."""
        own = self._settings.principals.get(sign_in.principal.name)
        token = self._environ.get(own.token_env, "") if own is not None and own.token_env else ""
        if not token or not secrets.compare_digest(_hash(token), sign_in.credential):
            return None
        return self._settings.principal(sign_in.principal.name)

    def _client(self) -> str:
        """The provider and this service's name there; sign-ins at others have ended."""
        return f"{self._settings.jwt.issuer} {self._settings.login.client_id}"


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
