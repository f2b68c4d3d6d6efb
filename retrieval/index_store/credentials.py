"""API keys and sign-ins in the index's PostgreSQL: principals, found by the hash of a secret.

A key or cookie is 32 random bytes, so that SHA-256 without salt protects it. It is returned once,
when it is made, and never stored. The server's clock decides what has expired.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from psycopg.types.json import Json

from nl2sql.errors import SettingsError
from nl2sql.types import Entitlement, Principal, UsageLimits
from retrieval.index_store.table_store import Parameters, Row, TableStore

PREFIX = "qsql_"
_KEY = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")
_COOKIE = re.compile(r"[A-Za-z0-9_-]{43}")

_COLUMNS = """id, principal, roles, attributes, databases, limits, created_at, expires_at,
    revoked_at, last_used_at"""
_USE_INTERVAL = timedelta(minutes=1)
_IS_VALID = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())"

Kind = Literal["static", "key", "signed", "provider"]


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The record of a key, without the key. Times are None where there is none."""

    id: str
    principal: Principal
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    def describe_state(self, now: datetime) -> str:
        """``active``, ``expired`` or ``revoked``."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return "active"


@dataclass(frozen=True, slots=True)
class SignIn:
    """Who signed in, and by what.

    ``credential`` is the id of an API key, the hash of a static token, the issuer of a signed
    token, or the identity provider and the client there.
    """

    kind: Kind
    credential: str
    principal: Principal


class ApiKeyStore(TableStore):
    """Makes, finds and ends keys. All methods raise IndexUnavailable."""

    async def create(self, principal: Principal, *, valid_days: float | None) -> tuple[ApiKey, str]:
        """A new record for ``principal`` and its key; without ``valid_days`` it never expires."""
        key = PREFIX + secrets.token_urlsafe(32)
        id_ = f"key_{secrets.token_hex(6)}"
        expires_at = datetime.now(UTC) + timedelta(days=valid_days) if valid_days else None
        row = {
            "id": id_,
            "hash": _hash(key),
            **_list_rights(principal),
            "limits": Json(asdict(principal.access.limits)),
            "expires_at": expires_at,
        }
        await self._insert("api_keys", [row])
        [record] = await self._find("id = %(id)s", {"id": id_})
        return record, key

    async def find(self, key: str) -> ApiKey | None:
        """The record of a valid key; None for any other text. Notes the use once a minute."""
        if not _KEY.fullmatch(key):
            return None
        found = await self._find(f"hash = %(hash)s AND {_IS_VALID}", {"hash": _hash(key)})
        for record in found:
            used_at = record.last_used_at
            if used_at is None or datetime.now(UTC) - used_at > _USE_INTERVAL:
                await self._change(
                    "UPDATE quorumsql.api_keys SET last_used_at = now() WHERE id = %(id)s",
                    {"id": record.id},
                )
        return next(iter(found), None)

    async def find_by_id(self, id_: str) -> ApiKey | None:
        """The record of that id, if its key is valid."""
        return next(iter(await self._find(f"id = %(id)s AND {_IS_VALID}", {"id": id_})), None)

    async def list_all(self) -> list[ApiKey]:
        """All records, also of ended keys, oldest first."""
        return await self._find("true", {})

    async def _find(self, condition: str, parameters: Parameters) -> list[ApiKey]:
        statement = f"SELECT {_COLUMNS} FROM quorumsql.api_keys WHERE {condition}"
        rows = await self._fetch(f"{statement} ORDER BY created_at, id", parameters)
        return [_read(row) for row in rows]

    async def revoke(self, id_: str) -> None:
        """Ends a key. Raises SettingsError if there is none, or it has ended."""
        changed = await self._change(
            f"UPDATE quorumsql.api_keys SET revoked_at = now() WHERE id = %(id)s AND {_IS_VALID}",
            {"id": id_},
        )
        if not changed:
            raise SettingsError(
                f"There is no valid API key {id_!r}.", hint="`quorumsql keys list` shows them."
            )


class SignInStore(TableStore):
    """Makes, finds and ends sign-ins on the page. All methods raise IndexUnavailable."""

    async def create(self, sign_in: SignIn, *, lasts_s: float) -> str:
        """Stores the sign-in for so many seconds and returns its cookie; deletes expired ones."""
        cookie = secrets.token_urlsafe(32)
        await self._change("DELETE FROM quorumsql.sign_ins WHERE expires_at <= now()", {})
        row = {
            "hash": _hash(cookie),
            "kind": sign_in.kind,
            "credential": sign_in.credential,
            **_list_rights(sign_in.principal),
            "expires_at": datetime.now(UTC) + timedelta(seconds=lasts_s),
        }
        await self._insert("sign_ins", [row])
        return cookie

    async def find(self, cookie: str) -> SignIn | None:
        """The sign-in of a cookie that has not expired; None for any other text."""
        if not _COOKIE.fullmatch(cookie):
            return None
        row = await self._fetch_row(
            "SELECT kind, credential, principal, roles, attributes, databases"
            " FROM quorumsql.sign_ins WHERE hash = %(hash)s AND expires_at > now()",
            {"hash": _hash(cookie)},
        )
        if row is None:
            return None
        kind, credential, name, roles, attributes, databases = row
        access = Entitlement(databases=tuple(databases))
        return SignIn(kind, credential, _build_principal(name, roles, attributes, access))

    async def end(self, cookie: str) -> None:
        """Ends the sign-in of a cookie, if there is one."""
        await self._change(
            "DELETE FROM quorumsql.sign_ins WHERE hash = %(hash)s", {"hash": _hash(cookie)}
        )

    async def end_all(self, principal: str) -> None:
        """Ends all sign-ins of the principals of that name."""
        await self._change(
            "DELETE FROM quorumsql.sign_ins WHERE principal = %(principal)s",
            {"principal": principal},
        )


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _read(row: Row) -> ApiKey:
    id_, name, roles, attributes, databases, limits, *times = row
    access = Entitlement(id_, tuple(databases), UsageLimits(**limits))
    return ApiKey(id_, _build_principal(name, roles, attributes, access), *times)


def _list_rights(principal: Principal) -> dict[str, Any]:
    return {
        "principal": principal.name,
        "roles": list(principal.roles),
        "attributes": Json(dict(principal.attributes)),
        "databases": list(principal.access.databases),
    }


def _build_principal(
    name: str, roles: Sequence[str], attributes: Mapping[str, Any], access: Entitlement
) -> Principal:
    """Lists of JSON become tuples."""
    pairs = (
        (key, tuple(value) if isinstance(value, list) else value)
        for key, value in attributes.items()
    )
    return Principal(name, tuple(roles), tuple(pairs), access)
