"""Finds the principal of a request: by a static token, an API key, or a signed token."""

from __future__ import annotations

from nl2sql.types import Principal
from retrieval.index_store.credentials import PREFIX, ApiKeyStore
from serve_app.service.identity.jwt_verifier import JwtVerifier
from serve_app.service.identity.sign_ins import SignIns
from serve_app.service.identity.static_tokens import build_unknown, read_bearer_token
from serve_app.settings.identity import IdentitySettings


class Identifier:
    """Finds principals by all kinds of tokens that the settings accept."""

    def __init__(
        self,
        settings: IdentitySettings,
        keys: ApiKeyStore | None = None,
        verifier: JwtVerifier | None = None,
        sign_ins: SignIns | None = None,
    ) -> None:
        """Without ``keys`` no API key is accepted, without ``verifier`` no signed token.

        Without ``sign_ins`` nobody can sign in on the page.
        """
        self._settings = settings
        self._keys = keys
        self._verifier = verifier
        self.sign_ins = sign_ins

    async def identify(self, authorization: str, cookie: str = "") -> Principal:
        """The principal of a request with this ``Authorization`` header, or else this cookie.

        The local one if the settings need no token. Raises Unauthenticated; Unavailable if the
        index or the identity provider does not answer, so that the token cannot be checked.
        """
        if not self._settings.needs_token:
            return self._settings.principal()
        if cookie and not authorization and self.sign_ins is not None:
            return await self.sign_ins.identify(cookie)
        token = read_bearer_token(authorization)
        principal = self._settings.find_by_token(token)
        if principal is not None:
            return principal
        if self._keys is not None and token.startswith(PREFIX):
            key = await self._keys.find(token)
            if key is not None:
                return key.principal
        elif self._verifier is not None and token.count(".") == 2:
            return await self._verifier.verify(token)
        raise build_unknown()
