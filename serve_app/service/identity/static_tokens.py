"""Bearer tokens from environment variables, which need nothing but the settings."""

from __future__ import annotations

from nl2sql.errors import Unauthenticated
from nl2sql.settings.identity import IdentitySettings
from nl2sql.types import Principal

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


def find_static_principal(settings: IdentitySettings, authorization: str) -> Principal:
    """The principal whose token is in an environment variable; the local one if none is needed.

    Raises Unauthenticated for any other token.
    """
    if not settings.needs_token:
        return settings.principal()
    principal = settings.find_by_token(read_bearer_token(authorization))
    if principal is None:
        raise build_unknown()
    return principal


def build_unknown() -> Unauthenticated:
    """The error for a token that belongs to nobody."""
    return Unauthenticated("The request carries no known token.", hint=_HINT)
