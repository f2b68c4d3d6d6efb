"""Sign-ins on the page, in the index's PostgreSQL: found by the hash of a cookie.

A cookie is 32 random bytes, so that SHA-256 without salt protects it. It is returned once, when
somebody signs in, and never stored. The server's clock decides what has expired.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Literal

from psycopg.types.json import Json

from nl2sql.types import Access, Principal
from retrieval.index_store.connections import Connections

Kind = Literal["static", "key", "signed", "provider"]

_COOKIE = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class SignIn:
    """Who signed in, and by what.

    ``credential`` is the id of an API key, the hash of a static token, the issuer of a signed
    token, or the identity provider and the client there.
    """

    kind: Kind
    credential: str
    principal: Principal


class SignInStore:
    """Makes, finds and ends sign-ins. All methods raise IndexUnavailable."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def create(self, sign_in: SignIn, *, lasts_s: float) -> str:
        """Stores the sign-in for so many seconds and returns its cookie; deletes expired ones."""
        cookie = secrets.token_urlsafe(32)
        principal = sign_in.principal
        async with self._store.connection() as connection, connection.transaction():
            await connection.execute("DELETE FROM quorumsql.sign_ins WHERE expires_at <= now()")
            await connection.execute(
                "INSERT INTO quorumsql.sign_ins"
                " (hash, kind, credential, principal, roles, attributes, databases, expires_at)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, now() + %s * interval '1 second')",
                (
                    _hash(cookie),
                    sign_in.kind,
                    sign_in.credential,
                    principal.name,
                    list(principal.roles),
                    Json(dict(principal.attributes)),
                    list(principal.access.databases),
                    float(lasts_s),
                ),
            )
        return cookie

    async def find(self, cookie: str) -> SignIn | None:
        """The sign-in of a cookie that has not expired; None for any other text."""
        if not _COOKIE.fullmatch(cookie):
            return None
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT kind, credential, principal, roles, attributes, databases"
                " FROM quorumsql.sign_ins WHERE hash = %s AND expires_at > now()",
                (_hash(cookie),),
            )
            row = await cursor.fetchone()
        if row is None:
            return None
        kind, credential, name, roles, attributes, databases = row
        principal = Principal(
            name,
            tuple(roles),
            tuple(
                (key, tuple(value) if isinstance(value, list) else value)
                for key, value in attributes.items()
            ),
            Access(databases=tuple(databases)),
        )
        return SignIn(kind, credential, principal)

    async def end(self, cookie: str) -> None:
        """Ends the sign-in of a cookie, if there is one."""
        async with self._store.connection() as connection:
            await connection.execute(
                "DELETE FROM quorumsql.sign_ins WHERE hash = %s", (_hash(cookie),)
            )

    async def end_all(self, principal: str) -> None:
        """Ends all sign-ins of the principals of that name."""
        async with self._store.connection() as connection:
            await connection.execute(
                "DELETE FROM quorumsql.sign_ins WHERE principal = %s", (principal,)
            )


def _hash(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode()).digest()
