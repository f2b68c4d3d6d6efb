"""Finds the principal of a request: by a static token, an API key, or a signed token."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.types import Principal
from retrieval.index_store.credentials import ApiKeyStore
from serve_app.service.identity.jwt_verifier import JwtVerifier
from serve_app.service.identity.sign_ins import SignIns, read_token
from serve_app.service.identity.static_tokens import read_bearer_token
from serve_app.settings.identity import IdentitySettings


@dataclass(frozen=True, slots=True)
class Identifier:
    """Finds principals by all kinds of tokens that the settings accept.

    Without ``keys`` no API key is accepted, without ``verifier`` no signed token. Without
    ``sign_ins`` nobody can sign in on the page.
    """

    settings: IdentitySettings
    keys: ApiKeyStore | None = None
    verifier: JwtVerifier | None = None
    sign_ins: SignIns | None = None

    async def identify(self, authorization: str, cookie: str = "") -> Principal:
        """The principal of a request with this ``Authorization`` header, or else this cookie.

        The local one if the settings need no token. Raises Unauthenticated; Unavailable if the
        index or the identity provider does not answer, so that the token cannot be checked.
        """
        if not self.settings.needs_token:
            return self.settings.principal()
        if cookie and not authorization and self.sign_ins is not None:
            return await self.sign_ins.identify(cookie)
        token = read_bearer_token(authorization)
        found, _ = await read_token(token, self.settings, self.keys, self.verifier)
        return found.principal
