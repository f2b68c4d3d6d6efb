"""API keys and sign-ins in the index's PostgreSQL: principals, found by the hash of a secret.

A key or cookie is 32 random bytes, so that SHA-256 without salt protects it. It is returned once,
when it is made, and never stored. The server's clock decides what has expired.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from psycopg.rows import dict_row
from psycopg.types.json import Json

from nl2sql.errors import SettingsError
from nl2sql.types import AttributeValue, Entitlement, Principal, UsageLimits
from retrieval.index_store.connections import Connections

PREFIX = "qsql_"
_KEY = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")

_COLUMNS = """id, principal, roles, attributes, databases, limits, created_at, expires_at,
    revoked_at, last_used_at, previous_ends_at"""
_IS_VALID = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())"
_HAS_HASH = "(hash = %(hash)s OR (previous_hash = %(hash)s AND previous_ends_at > now()))"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The record of a key, without the key. Times are None where there is none."""

    id: str
    principal: Principal
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    previous_ends_at: datetime | None

    def describe_state(self, now: datetime) -> str:
        """``active``, ``rotating`` (the previous key works too), ``expired`` or ``revoked``."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        if self.previous_ends_at is not None and self.previous_ends_at > now:
            return "rotating"
        return "active"


class ApiKeyStore:
    """Makes, finds and ends keys. All methods raise IndexUnavailable."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def create(self, principal: Principal, *, valid_days: float | None) -> tuple[ApiKey, str]:
        """A new record for ``principal`` and its key; without ``valid_days`` it never expires."""
        key = _generate_key()
        values = {
            "id": f"key_{secrets.token_hex(6)}",
            "hash": _hash(key),
            "principal": principal.name,
            "roles": list(principal.roles),
            "attributes": Json(dict(principal.attributes)),
            "databases": list(principal.access.databases),
            "limits": Json(asdict(principal.access.limits)),
            "days": valid_days,
        }
        async with self._store.connection() as connection:
            cursor = await connection.cursor(row_factory=dict_row).execute(
                "INSERT INTO quorumsql.api_keys"
                " (id, hash, principal, roles, attributes, databases, limits, expires_at)"
                " VALUES (%(id)s, %(hash)s, %(principal)s, %(roles)s, %(attributes)s,"
                " %(databases)s, %(limits)s, now() + %(days)s::float8 * interval '1 day')"
                f" RETURNING {_COLUMNS}",
                values,
            )
            row = await cursor.fetchone()
        assert row is not None
        return _read(row), key

    async def find(self, key: str) -> ApiKey | None:
        """The record of a valid key; None for any other text. Notes the use once a minute."""
        if not _KEY.fullmatch(key):
            return None
        condition = f"{_HAS_HASH} AND {_IS_VALID}"
        async with self._store.connection() as connection:
            cursor = await connection.cursor(row_factory=dict_row).execute(
                f"SELECT {_COLUMNS}, coalesce(last_used_at < now() - interval '1 minute', true)"
                f" AS is_use_old FROM quorumsql.api_keys WHERE {condition}",
                {"hash": _hash(key)},
            )
            row = await cursor.fetchone()
            if row is not None and row["is_use_old"]:
                await connection.execute(
                    "UPDATE quorumsql.api_keys SET last_used_at = now() WHERE id = %s", (row["id"],)
                )
        return None if row is None else _read(row)

    async def find_by_id(self, id_: str) -> ApiKey | None:
        """The record of that id, if one of its keys is valid."""
        async with self._store.connection() as connection:
            cursor = await connection.cursor(row_factory=dict_row).execute(
                f"SELECT {_COLUMNS} FROM quorumsql.api_keys WHERE id = %s AND {_IS_VALID}", (id_,)
            )
            row = await cursor.fetchone()
        return None if row is None else _read(row)

    async def list_all(self) -> list[ApiKey]:
        """All records, also of ended keys, oldest first."""
        async with self._store.connection() as connection:
            cursor = await connection.cursor(row_factory=dict_row).execute(
                f"SELECT {_COLUMNS} FROM quorumsql.api_keys ORDER BY created_at, id"
            )
            return [_read(row) for row in await cursor.fetchall()]

    async def rotate(self, id_: str, *, grace_minutes: float = 0) -> str:
        """A new key for the record; the old one works for ``grace_minutes`` more.

        Of several earlier keys only the last one can still work. Raises SettingsError if there is
        no such record, or it has ended.
        """
        key = _generate_key()
        await self._change(
            id_,
            "UPDATE quorumsql.api_keys SET previous_hash = hash, hash = %(hash)s,"
            " previous_ends_at = now() + %(minutes)s * interval '1 minute'"
            f" WHERE id = %(id)s AND {_IS_VALID}",
            {"hash": _hash(key), "minutes": float(grace_minutes)},
        )
        return key

    async def revoke(self, id_: str) -> None:
        """Ends all keys of the record. Raises SettingsError if there is none, or it has ended."""
        await self._change(
            id_,
            "UPDATE quorumsql.api_keys SET revoked_at = now(), previous_ends_at = NULL,"
            f" previous_hash = NULL WHERE id = %(id)s AND {_IS_VALID}",
            {},
        )

    async def _change(self, id_: str, statement: str, values: dict[str, Any]) -> None:
        async with self._store.connection() as connection:
            cursor = await connection.execute(statement.encode(), {**values, "id": id_})
        if not cursor.rowcount:
            raise SettingsError(
                f"There is no valid API key {id_!r}.", hint="`quorumsql keys list` shows them."
            )


def _generate_key() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _read(row: dict[str, Any]) -> ApiKey:
    access = Entitlement(row["id"], tuple(row["databases"]), UsageLimits(**row["limits"]))
    attributes = tuple((name, _freeze(value)) for name, value in row["attributes"].items())
    return ApiKey(
        id=row["id"],
        principal=Principal(row["principal"], tuple(row["roles"]), attributes, access),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        last_used_at=row["last_used_at"],
        previous_ends_at=row["previous_ends_at"],
    )


def _freeze(value: Any) -> AttributeValue:
    """Lists of JSON as tuples."""
    return tuple(value) if isinstance(value, list) else value


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
                    _hash_cookie(cookie),
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
                (_hash_cookie(cookie),),
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
            Entitlement(databases=tuple(databases)),
        )
        return SignIn(kind, credential, principal)

    async def end(self, cookie: str) -> None:
        """Ends the sign-in of a cookie, if there is one."""
        async with self._store.connection() as connection:
            await connection.execute(
                "DELETE FROM quorumsql.sign_ins WHERE hash = %s", (_hash_cookie(cookie),)
            )

    async def end_all(self, principal: str) -> None:
        """Ends all sign-ins of the principals of that name."""
        async with self._store.connection() as connection:
            await connection.execute(
                "DELETE FROM quorumsql.sign_ins WHERE principal = %s", (principal,)
            )


def _hash_cookie(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode()).digest()
