"""The executor stage: one interface to all databases, which accepts only guarded queries."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Protocol

from nl2sql.concurrency import gather_all
from nl2sql.errors import Busy, UnknownDatabase
from nl2sql.types import (
    NO_TURN,
    Diagnostic,
    ExecutionLimits,
    Explained,
    GuardedQuery,
    ResultSet,
)


class Database(Protocol):
    """The read-only connection to one database of any kind."""

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic: ...

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        """Fetches at most ``max_rows`` rows. Raises DatabaseUnavailable, InsecureRole, Busy."""
        ...

    async def probe(self) -> str:
        """What is wrong with this database; empty if nothing is."""
        ...

    async def close(self) -> None: ...


class ReadOnlyExecutor:
    """Dispatches guarded queries to their database by name."""

    def __init__(self, databases: Mapping[str, Database]) -> None:
        self._databases = dict(databases)

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic:
        """Raises UnknownDatabase, DatabaseUnavailable, InsecureRole, Busy."""
        return await self._database(query.database).explain(query)

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        """With ``limits``, a query that got no turn is a Diagnostic too.

        Raises UnknownDatabase, DatabaseUnavailable, InsecureRole; Busy without ``limits``.
        """
        try:
            return await self._database(query.database).execute(query, max_rows, limits)
        except Busy as error:
            if limits is None:
                raise
            return Diagnostic(NO_TURN, error.message)

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """Pairs (``database NAME``, problem or empty) for all databases, probed in parallel."""
        wrong = await gather_all(database.probe() for database in self._databases.values())
        return tuple(
            (f"database {name}", text) for name, text in zip(self._databases, wrong, strict=True)
        )

    async def close(self) -> None:
        """Closes all pools."""
        # If one fails to close, the others are closed all the same.
        await asyncio.gather(*(database.close() for database in self._databases.values()))

    def _database(self, name: str) -> Database:
        if name not in self._databases:
            raise UnknownDatabase(name, tuple(self._databases))
        return self._databases[name]
