"""References: ids that stand for queries, for people who see answers without SQL.

By its reference they run, share, rate and pick a query that they are never sent. A reference works
for the principal whom it was given to, and for ``sessions.keep_hours``. Knows nothing of FastAPI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nl2sql.errors import InvalidRequest, Unavailable
from nl2sql.settings import Settings
from nl2sql.types import Principal, Turn
from retrieval.index_store.reference_store import PREFIX, ReferenceStore
from retrieval.sessions import identify_owner
from serve_app.service.missing import Missing
from serve_app.service.rights import withholds_sql

_LONGEST = 64
# A longer query is refused by the guard. (Its own bound is in a module that imports sqlglot, which
# the command line need not wait for.)
_LONGEST_QUERY = 20_000


class References:
    """Keeps queries, and finds them again."""

    def __init__(self, settings: Settings, store: ReferenceStore | None = None) -> None:
        """Without ``store`` no query is kept."""
        self._settings = settings
        self._store = store
        self._keep_hours = settings.sessions.keep_hours

    def withholds(self, principal: Principal) -> bool:
        """Whether the principal sees answers without SQL."""
        return withholds_sql(self._settings, principal)

    async def keep(
        self, principal: Principal, queries: Sequence[tuple[str, str]], session: str = ""
    ) -> tuple[str, ...]:
        """A reference for each query, (database, SQL); none at all if they cannot be kept."""
        if self._store is None or any(len(sql) > _LONGEST_QUERY for _, sql in queries):
            return ()
        owner = identify_owner(principal)
        try:
            return await self._store.add(owner, session, queries, keep_hours=self._keep_hours)
        except Unavailable:
            return ()

    async def find(
        self, reference: str, principal: Principal, field: str = "reference"
    ) -> tuple[str, str]:
        """(database, SQL). Raises Missing, also for another's; IndexUnavailable."""
        found = None
        if self._store is not None and _is_reference(reference):
            owner = identify_owner(principal)
            found = await self._store.find(reference, owner, keep_hours=self._keep_hours)
        if found is None or found[0] not in self._settings.database_names(principal):
            raise Missing("This answer is not known any more. Ask the question again.", field=field)
        return found

    async def choose(
        self, reference: str, sql: str, database: str | None, principal: Principal
    ) -> tuple[str | None, str]:
        """(database, SQL) of a request: those of the reference, if it has one.

        Raises InvalidRequest if it has both; Missing, IndexUnavailable.
        """
        if not reference:
            return database, sql
        if sql or database is not None:
            raise InvalidRequest("A reference has its own database and query.", field="reference")
        return await self.find(reference, principal)

    async def complete(self, turns: Sequence[Turn], principal: Principal) -> tuple[Turn, ...]:
        """The turns with the queries that their references stand for; unknown ones are left out."""
        completed = []
        for turn in turns:
            try:
                sql = await self._read(turn.sql, principal)
                readings = [await self._read(each, principal) for each in turn.interpretations]
            except Missing:
                continue
            completed.append(replace(turn, sql=sql, interpretations=tuple(readings)))
        return tuple(completed)

    async def _read(self, text: str, principal: Principal) -> str:
        return (await self.find(text, principal))[1] if _is_reference(text) else text

    async def read_picked(self, picked: str, principal: Principal) -> str:
        """The query of a picked interpretation: as given, or what the reference stands for."""
        if not _is_reference(picked.strip()):
            return picked
        return (await self.find(picked.strip(), principal, "picked"))[1]


def _is_reference(text: str) -> bool:
    return text.startswith(PREFIX) and len(text) <= _LONGEST and text.isascii()
