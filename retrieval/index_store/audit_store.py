"""The audit log in the index's PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from retrieval.index_store.connections import Connections

_COLUMNS = (
    "asked_at, principal, key, database, session, question, outcome, code, sql, predicates,"
    " tables, executed, row_count, ms"
)
_PLACES = ", ".join(f"%({name.strip()})s" for name in _COLUMNS.split(","))


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One question: who asked it, which queries ran, and the outcome; never values of results.

    ``sql`` is the guarded query whose rows were returned, with the ``predicates`` injected into it
    and the ``tables`` that it reads; ``executed`` are the guarded queries that ran for the vote, it
    included. ``row_count`` is None where no rows were returned. ``outcome`` is that of the answer,
    or ``error``, or ``cancelled``; ``code`` is that of a refusal, or the name of the error, or
    ``cached`` for an answer from the cache, for which nothing was executed.
    """

    asked_at: datetime
    principal: str
    key: str
    database: str
    session: str
    question: str
    outcome: str
    code: str
    sql: str
    predicates: Sequence[str]
    tables: Sequence[str]
    executed: Sequence[str]
    row_count: int | None
    ms: float


class AuditStore:
    """Adds and prunes entries. All methods raise IndexUnavailable."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def add(self, entry: AuditEntry) -> None:
        """Adds an entry."""
        values = {
            name.strip(): _clean(getattr(entry, name.strip())) for name in _COLUMNS.split(",")
        }
        async with self._store.connection() as connection:
            await connection.execute(
                f"INSERT INTO quorumsql.audit_log ({_COLUMNS}) VALUES ({_PLACES})".encode(), values
            )

    async def prune(self, keep_days: int) -> int:
        """Deletes older entries and returns their number."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM quorumsql.audit_log"
                " WHERE asked_at < now() - make_interval(days => %s)",
                (keep_days,),
            )
            return cursor.rowcount

    async def read(
        self, *, most: int, principal: str = "", since: datetime | None = None
    ) -> list[AuditEntry]:
        """The last ``most`` entries, oldest first, of one principal if it is named."""
        async with self._store.connection() as connection:
            cursor = await connection.cursor(row_factory=class_row(AuditEntry)).execute(
                f"SELECT {_COLUMNS} FROM quorumsql.audit_log"
                " WHERE (%(principal)s = '' OR principal = %(principal)s)"
                " AND (%(since)s::timestamptz IS NULL OR asked_at >= %(since)s)"
                " ORDER BY asked_at DESC, number DESC LIMIT %(most)s",
                {"principal": principal, "since": since, "most": most},
            )
            return (await cursor.fetchall())[::-1]


def _clean(value: object) -> object:
    """Replaces what PostgreSQL cannot store in a text: null characters and lone surrogates."""
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return [_clean(item) for item in value] if isinstance(value, tuple | list) else value
