"""Signing in at an identity provider: OpenID Connect's code flow with PKCE, by Authlib.

The provider is the issuer of ``identity.jwt``. Its ID token is verified with the same keys and
algorithms as the signed tokens of requests, and gives the same claims. Access tokens are not used.
Knows nothing of HTTP requests to this service.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError

from nl2sql.errors import Unauthenticated, Unavailable
from nl2sql.types import Principal
from serve_app.service.identity.jwt_verifier import LEEWAY_S, JwtVerifier
from serve_app.service.identity.public_keys import REFRESH_S, TIMEOUT_S, find_address, read_metadata
from serve_app.service.identity.sign_ins import PendingSignIn
from serve_app.settings.identity import IdentitySettings

_MOST_CODE_CHARS = 4096


class ProviderLogin:
    """Sends browsers to the provider, and reads who returns."""

    def __init__(self, identity: IdentitySettings, verifier: JwtVerifier) -> None:
        """Raises SettingsError if the client's secret cannot be read."""
        self._issuer = identity.jwt.issuer
        self._login = identity.login
        self._secret = identity.login.read_secret()  # empty: the client has none
        self._verifier = verifier
        self._metadata: dict[str, Any] = {}
        self._read_at = -float("inf")

    async def build_address(self, pending: PendingSignIn, redirect_uri: str) -> str:
        """Where the browser signs in; it returns to ``redirect_uri``. Raises Unavailable."""
        metadata = await self._read_metadata()
        async with self._open(metadata, redirect_uri) as client:
            address, _ = client.create_authorization_url(
                find_address(metadata, "authorization_endpoint"),
                state=pending.state,
                nonce=pending.nonce,
                code_verifier=pending.code_verifier,
            )
        return str(address)

    async def finish(
        self, pending: PendingSignIn | None, redirect_uri: str, returned: Mapping[str, str]
    ) -> Principal:
        """Who signed in, from the parameters with which the browser returned.

        ``pending`` is the one of this browser. Raises Unauthenticated, Unavailable.
        """
        if pending is None or not secrets.compare_digest(
            pending.state.encode(), returned.get("state", "").encode()
        ):
            raise _refuse("it was not begun in this browser, or too long ago")
        metadata = await self._read_metadata()
        # Another provider could pass on a code of this one (RFC 9207).
        tells_issuer = metadata.get("authorization_response_iss_parameter_supported") is True
        if returned.get("iss", "" if tells_issuer else self._issuer) != self._issuer:
            raise _refuse("another provider answered")
        if "error" in returned:
            raise _refuse(f"the provider answered {returned['error'][:100]!r}")
        code = returned.get("code", "")
        if not code or len(code) > _MOST_CODE_CHARS:
            raise _refuse("the provider sent no code")
        tokens = await self._redeem(metadata, pending, redirect_uri, code)
        return await self._verify(pending, tokens)

    async def _redeem(
        self, metadata: dict[str, Any], pending: PendingSignIn, redirect_uri: str, code: str
    ) -> Mapping[str, Any]:
        address = find_address(metadata, "token_endpoint")
        try:
            async with self._open(metadata, redirect_uri) as client:
                tokens: Mapping[str, Any] = await client.fetch_token(
                    address,
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=pending.code_verifier,
                    redirect_uri=redirect_uri,
                )
        except AuthlibBaseError as error:
            raise _refuse(f"the provider refused the code ({error.error})") from error
        except (httpx2.HTTPError, ValueError) as error:
            raise Unavailable(
                f"The identity provider does not answer at {address} ({type(error).__name__})."
            ) from error
        return tokens

    async def _verify(self, pending: PendingSignIn, tokens: Mapping[str, Any]) -> Principal:
        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise _refuse("the provider sent no ID token")
        read = await self._verifier.read(token, audience=self._login.client_id)
        claims = CodeIDToken(
            read.claims,
            {"alg": read.algorithm},
            params={
                "nonce": pending.nonce,
                "client_id": self._login.client_id,
                "access_token": tokens.get("access_token"),
            },
        )
        try:
            claims.validate(leeway=LEEWAY_S)
        except JoseError as error:
            raise _refuse(f"its ID token is not for this sign-in ({error.error})") from error
        return read.principal

    def _open(self, metadata: Mapping[str, Any], redirect_uri: str) -> AsyncOAuth2Client:
        return AsyncOAuth2Client(
            client_id=self._login.client_id,
            client_secret=self._secret or None,
            token_endpoint_auth_method=self._choose_method(metadata),
            scope=" ".join(dict.fromkeys(("openid", *self._login.scopes))),
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            timeout=TIMEOUT_S,
            follow_redirects=False,
        )

    def _choose_method(self, metadata: Mapping[str, Any]) -> str:
        """How the client shows its secret: in the body where the provider reads it there.

        The header is read differently by providers if the secret has special characters.
        """
        if not self._secret:
            return "none"
        known = metadata.get("token_endpoint_auth_methods_supported", ())
        in_body = "client_secret_post"
        return in_body if in_body in known else "client_secret_basic"

    async def _read_metadata(self) -> dict[str, Any]:
        """The provider's addresses; read again when they are as old as keys may get."""
        if time.monotonic() - self._read_at >= REFRESH_S:
            self._metadata = await read_metadata(self._issuer)
            self._read_at = time.monotonic()
        return self._metadata


def _refuse(reason: str) -> Unauthenticated:
    return Unauthenticated(f"The sign-in is refused: {reason}.")
