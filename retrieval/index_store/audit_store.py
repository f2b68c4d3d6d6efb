"""The audit log in the index's PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from retrieval.index_store.store import IndexStore
from retrieval.index_store.table_store import TableStore


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One question: who asked it, which queries ran, and the outcome; never values of results.

    ``sql`` is the guarded query whose rows were returned, with the ``predicates`` injected into it
    and the ``tables`` that it reads; ``executed`` are the guarded queries that ran for the vote, it
    included. ``row_count`` is None where no rows were returned. ``outcome`` is that of the answer
    or of the error; ``code`` is that of a refusal, or the name of the error.
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


class AuditStore(TableStore):
    """Adds entries, and now and then deletes old ones."""

    def __init__(self, index: IndexStore, *, keep_days: int | None = None) -> None:
        """Entries older than ``keep_days`` are deleted; without it, none is."""
        super().__init__(index)
        self._keep_days = keep_days

    async def add(self, entry: AuditEntry) -> None:
        """Adds an entry. Raises IndexUnavailable."""
        await self._insert("audit_log", [asdict(entry)])
        if self._keep_days is not None:
            await self._prune(
                "DELETE FROM quorumsql.audit_log"
                " WHERE asked_at < now() - make_interval(days => %(days)s)",
                {"days": self._keep_days},
            )

    async def read(
        self, *, most: int, principal: str = "", since: datetime | None = None
    ) -> list[AuditEntry]:
        """The last ``most`` entries, oldest first, of one principal if it is named."""
        found = await self._list(
            AuditEntry,
            "audit_log",
            "WHERE (%(principal)s = '' OR principal = %(principal)s)"
            " AND (%(since)s::timestamptz IS NULL OR asked_at >= %(since)s)"
            " ORDER BY asked_at DESC, number DESC LIMIT %(most)s",
            {"principal": principal, "since": since, "most": most},
        )
        return found[::-1]
