"""Signing in on the page: a token once, then a cookie until it ends.

A sign-in never outlives what it was made with: a revoked or expired API key, a changed static token
or an expired signed token ends it. Knows nothing of HTTP.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

import jwt

from nl2sql.errors import Unauthenticated
from nl2sql.settings.identity import IdentitySettings
from nl2sql.types import Principal
from retrieval.index_store.api_keys import PREFIX, ApiKeyStore
from retrieval.index_store.sign_in_store import SignIn, SignInStore
from serve_app.service.identity.jwt_verifier import JwtVerifier
from serve_app.service.identity.static_tokens import build_unknown


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

    async def sign_in(self, token: str) -> tuple[str, float]:
        """The cookie of a new sign-in, and for how many seconds it lasts.

        ``token`` is one that requests may carry too. Raises Unauthenticated.
        """
        lasts_s = self._lasts_s
        if (principal := self._settings.find_by_token(token, self._environ)) is not None:
            sign_in = SignIn("static", _hash(token), principal)
        elif self._keys is not None and token.startswith(PREFIX):
            key = await self._keys.find(token)
            if key is None:
                raise build_unknown()
            sign_in = SignIn("key", key.id, key.principal)
        elif self._verifier is not None and token.count(".") == 2:
            sign_in = SignIn("signed", "", await self._verifier.verify(token))
            lasts_s = min(lasts_s, _read_end(token) - self._clock())
        else:
            raise build_unknown()
        return await self._store.create(sign_in, lasts_s=lasts_s), lasts_s

    async def identify(self, cookie: str) -> Principal:
        """The principal of a sign-in. Raises Unauthenticated if it has ended."""
        found = await self._store.find(cookie)
        principal = await self._find_principal(found) if found is not None else None
        if principal is None:
            raise Unauthenticated("The sign-in has ended: sign in again.")
        return principal

    async def end(self, cookie: str) -> int:
        """Signs out; returns how many sign-ins ended: one, or none."""
        return await self._store.end(cookie)

    async def end_all(self, principal: Principal) -> int:
        """Signs the principal out everywhere; returns how many sign-ins ended."""
        return await self._store.end_all(principal.name)

    async def _find_principal(self, sign_in: SignIn) -> Principal | None:
        if sign_in.kind == "signed":
            return sign_in.principal if self._verifier is not None else None
        if sign_in.kind == "key":
            key = await self._keys.find_by_id(sign_in.credential) if self._keys else None
            return key.principal if key is not None else None
        own = self._settings.principals.get(sign_in.principal.name)
        token = self._environ.get(own.token_env, "") if own is not None and own.token_env else ""
        if not token or not secrets.compare_digest(_hash(token), sign_in.credential):
            return None
        # As the settings are now: roles may have been taken away.
        return self._settings.principal(sign_in.principal.name)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _read_end(token: str) -> float:
    """When a token that was verified expires, in seconds since 1970."""
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return float(claims["exp"])
