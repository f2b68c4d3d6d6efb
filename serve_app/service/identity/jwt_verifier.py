"""Verifies signed tokens (JWT, RFC 7519) of an identity provider and reads their principal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jwt

from nl2sql.errors import Unauthenticated
from nl2sql.types import AttributeValue, Entitlement, Principal
from serve_app.service.identity.public_keys import PublicKeys, read_keys
from serve_app.settings.identity import LOCAL, JwtSettings

LEEWAY_S = 30
"""The tolerated difference of the clocks."""

_MOST_TOKEN_CHARS = 16_384
_MOST_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class SignedToken:
    """A token that was verified; ``expires_at`` in seconds since 1970."""

    principal: Principal
    claims: dict[str, Any]
    algorithm: str
    expires_at: float


class JwtVerifier:
    """Accepts tokens of one issuer for one audience."""

    def __init__(self, settings: JwtSettings) -> None:
        self._settings = settings
        self._keys = PublicKeys(partial(read_keys, settings))

    async def read(self, token: str, *, audience: str = "") -> SignedToken:
        """What a valid token says; ``audience`` replaces the configured one.

        Raises Unauthenticated; Unavailable if the issuer's keys cannot be read.
        """
        if len(token) > _MOST_TOKEN_CHARS:
            raise _refuse("it is too long")
        key = await self._keys.find(_read_key_id(token))
        if key is None:
            raise _refuse("its signature key is unknown")
        try:
            claims = jwt.decode(
                token,
                key,
                # The key's own, and never the one that the token names.
                algorithms=[key.algorithm_name],
                audience=audience or self._settings.audience,
                issuer=self._settings.issuer,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            raise _refuse(str(error).rstrip(".")) from error
        except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
            raise _refuse("it is malformed") from error
        principal = self._read_principal(claims)
        return SignedToken(principal, claims, key.algorithm_name, float(claims["exp"]))

    def _read_principal(self, claims: dict[str, Any]) -> Principal:
        named = self._settings.claims
        name = _find(claims, named.name)
        is_plain = isinstance(name, str) and name.isprintable() and name.strip() == name
        if not is_plain or not name or len(name) > _MOST_NAME_CHARS or name == LOCAL:
            raise _refuse(f"its claim {named.name} is not a name")
        roles = _read_names(_find(claims, named.roles), named.roles) if named.roles else ()
        databases: tuple[str, ...] = ()
        if named.databases:
            databases = _read_names(_find(claims, named.databases), named.databases)
            if not databases:
                # An empty list would mean all databases.
                raise _refuse(f"its claim {named.databases} names no database")
        attributes = tuple(
            (attribute, _read_value(_find(claims, claim), claim))
            for attribute, claim in named.attributes.items()
        )
        return Principal(name, roles, attributes, Entitlement(databases=databases))


def _read_key_id(token: str) -> str:
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise _refuse("it is malformed") from error
    key_id = header.get("kid", "")
    if "crit" in header or not isinstance(key_id, str):
        raise _refuse("its header is not understood")
    return key_id


def _find(claims: dict[str, Any], name: str) -> Any:
    """The claim of that name, or at that path. Raises Unauthenticated if it is missing."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        if not isinstance(found, dict) or part not in found:
            raise _refuse(f"it has no claim {name}")
        found = found[part]
    return found


def _read_names(value: Any, claim: str) -> tuple[str, ...]:
    names = value.split() if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _refuse(f"its claim {claim} is not a list of names")
    return tuple(names)


def _read_value(value: Any, claim: str) -> AttributeValue:
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return tuple(value)
    if isinstance(value, str | int | float):
        return value
    raise _refuse(f"its claim {claim} is not a value or a list of values")


def _refuse(reason: str) -> Unauthenticated:
    return Unauthenticated(f"The signed token is refused: {reason}.")
