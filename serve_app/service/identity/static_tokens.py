"""Bearer tokens from environment variables, and the ways to sign in on the page.

Needs nothing but the settings: Ray's HTTP proxy uses it too.
"""

from __future__ import annotations

from typing import Literal

from nl2sql.errors import Unauthenticated
from serve_app.settings.identity import IdentitySettings
from serve_app.settings.service import PageSettings

SignInMethod = Literal["key", "provider"]

_HINT = "Send the header `Authorization: Bearer …` with a token of one of the principals."


def read_bearer_token(authorization: str) -> str:
    """The token in an ``Authorization`` header. Raises Unauthenticated if there is none.

    >>> read_bearer_token("bearer abc")
    'abc'
    """
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("The request carries no token.", hint=_HINT)
    return token.strip()


def build_unknown() -> Unauthenticated:
    """The error for a token that belongs to nobody."""
    return Unauthenticated("The request carries no known token.", hint=_HINT)


def list_sign_in_methods(
    identity: IdentitySettings, page: PageSettings
) -> tuple[SignInMethod, ...]:
    """``key``: by a token that requests may carry too. ``provider``: at the identity provider.

    Empty if requests need no token, or the page is switched off.

    >>> page = PageSettings()
    >>> list_sign_in_methods(IdentitySettings(api_keys=True), page), list_sign_in_methods(
    ...     IdentitySettings(), page
    ... )
    (('key',), ())
    """
    if not page.enabled or not identity.needs_token:
        return ()
    if not identity.login.is_used:
        return ("key",)
    # Nobody types a signed token where the provider can be asked.
    has_keys = identity.api_keys or identity.has_static_tokens
    return ("key", "provider") if has_keys else ("provider",)
