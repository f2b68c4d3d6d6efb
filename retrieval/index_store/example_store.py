"""Verified examples and what users said of answers, in the index's PostgreSQL with pgvector.

Examples are by database name, not by generation of its index: a new index leaves them as they are.
Whatever keeps an example from a principal is part of the query that finds it, so that no filter
starves the search. Knows nothing of guards: whoever shows an example asks one first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection, sql

from retrieval.index_store.connections import Connections
from retrieval.index_store.feedback_note import FeedbackNote
from retrieval.index_store.verified_example import Source, VerifiedExample, fold_question

_HNSW: LiteralString = """
CREATE INDEX IF NOT EXISTS {name} ON quorumsql.examples
 USING hnsw ((embedding::vector({dimensions})) vector_cosine_ops)
 WHERE vector_dims(embedding) = {dimensions}
"""

# Any number that no other advisory lock of ours has.
_HNSW_LOCK = 0x51534D

_COLUMNS = tuple(field.name for field in fields(VerifiedExample))
_NOTE_COLUMNS = tuple(field.name for field in fields(FeedbackNote))

_MAY_BE_SHOWN: LiteralString = """
 database = %(database)s AND embedder = %(embedder)s
   AND (%(sees_all)s OR source <> 'feedback' OR access = %(access)s)
   AND (roles = '{}' OR roles && %(roles)s::text[])
   AND NOT tables && %(hidden)s::text[]
   AND folded IS DISTINCT FROM %(not_folded)s::text
   AND id <> ALL (%(seen)s::text[])
"""

_NEAREST = sql.SQL(
    """
SELECT id, question, sql, form, 1 - (embedding::vector({dimensions}) <=> %(vector)s) AS cosine
  FROM quorumsql.examples
 WHERE vector_dims(embedding) = {dimensions} AND {may_be_shown}
 ORDER BY embedding::vector({dimensions}) <=> %(vector)s
 LIMIT %(limit)s
"""
)

_DRAWN = sql.SQL(
    """
SELECT id, question, sql, form, 0.0 AS cosine FROM quorumsql.examples
 WHERE {may_be_shown} ORDER BY md5(%(seed)s || id), id LIMIT %(limit)s
"""
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Of which examples a search is: those that who asks may be shown, as far as the store knows.

    ``vectors`` is the name of those that the searched-for one compares with.
    ``sees_all``: nothing of the database is withheld from anybody. Else what others gave by
    feedback is left out unless their ``access`` was the same. ``hidden`` tables are read by none of
    the examples; ``not_folded`` is a folded question that is left out, None for none.
    """

    database: str
    vectors: str
    sees_all: bool
    access: str
    roles: tuple[str, ...]
    hidden: Collection[str] = ()
    not_folded: str | None = None


@dataclass(frozen=True, slots=True)
class FoundExample:
    """An example as a search found it; ``cosine`` is 0 for one that was drawn."""

    id: str
    question: str
    sql: str
    form: str
    cosine: float


class ExampleStore:
    """Reads and writes examples through the index store's connections."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    # -- searching -----------------------------------------------------------------------------

    async def nearest(
        self,
        scope: Scope,
        vector: NDArray[np.float32],
        limit: int,
        seen: Collection[str] = (),
    ) -> list[FoundExample]:
        """At most ``limit`` examples of the scope but those ``seen``, nearest first."""
        query = _NEAREST.format(
            dimensions=sql.Literal(len(vector)), may_be_shown=sql.SQL(_MAY_BE_SHOWN)
        )
        return await self._find(query, scope, limit, seen, {"vector": vector})

    async def draw(
        self, scope: Scope, seed: int, limit: int, seen: Collection[str] = ()
    ) -> list[FoundExample]:
        """At most ``limit`` examples of the scope, in an order that hangs on ``seed`` alone."""
        query = _DRAWN.format(may_be_shown=sql.SQL(_MAY_BE_SHOWN))
        return await self._find(query, scope, limit, seen, {"seed": str(seed)})

    async def _find(
        self,
        query: sql.Composed,
        scope: Scope,
        limit: int,
        seen: Collection[str],
        more: dict[str, object],
    ) -> list[FoundExample]:
        parameters = {
            "database": scope.database,
            "embedder": scope.vectors,
            "sees_all": scope.sees_all,
            "access": scope.access,
            "roles": list(scope.roles),
            "hidden": list(scope.hidden),
            "not_folded": scope.not_folded,
            "seen": list(seen),
            "limit": limit,
        }
        async with self._store.connection() as connection:
            cursor = await connection.execute(query, {**parameters, **more})
            return [_read_found(row) for row in await cursor.fetchall()]

    async def is_empty(self, database: str) -> bool:
        """Whether the database has no example at all."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT 1 FROM quorumsql.examples WHERE database = %s LIMIT 1", (database,)
            )
            return await cursor.fetchone() is None

    async def list_tables(self, database: str) -> frozenset[str]:
        """All tables that any example of the database reads."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT DISTINCT unnest(tables) FROM quorumsql.examples WHERE database = %s",
                (database,),
            )
            return frozenset(row[0] for row in await cursor.fetchall())

    # -- upkeep --------------------------------------------------------------------------------

    async def put(
        self, examples: Sequence[VerifiedExample], vectors: NDArray[np.float32], embedder: str
    ) -> None:
        """Stores the examples in one transaction, each in the place of one of the same id."""
        if not examples:
            return
        rows = [
            (
                each.database,
                each.id,
                each.question,
                fold_question(each.question),
                each.masked,
                each.sql,
                each.form,
                list(each.tables),
                each.source,
                each.given_by,
                each.access,
                list(each.roles),
                each.created_at,
                embedder,
                vector,
            )
            for each, vector in zip(examples, vectors, strict=True)
        ]
        async with self._store.connection() as connection, connection.transaction():
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    "INSERT INTO quorumsql.examples VALUES"
                    " (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
                    " ON CONFLICT (database, id) DO UPDATE SET question = EXCLUDED.question,"
                    " masked = EXCLUDED.masked, sql = EXCLUDED.sql, tables = EXCLUDED.tables,"
                    " source = EXCLUDED.source, given_by = EXCLUDED.given_by,"
                    " roles = EXCLUDED.roles, embedder = EXCLUDED.embedder,"
                    " embedding = EXCLUDED.embedding",
                    rows,
                )
            await _ensure_hnsw(connection, int(vectors.shape[1]))

    async def list_examples(
        self, database: str, *, sources: Collection[Source] = ()
    ) -> tuple[VerifiedExample, ...]:
        """All examples of the database, or those of some sources, oldest first."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                sql.SQL(
                    "SELECT {columns} FROM quorumsql.examples WHERE database = %(database)s"
                    " AND (%(sources)s = '{{}}' OR source = ANY (%(sources)s::text[]))"
                    " ORDER BY created_at, id"
                ).format(columns=sql.SQL(", ").join(map(sql.Identifier, _COLUMNS))),
                {"database": database, "sources": list(sources)},
            )
            return tuple(_read_example(row) for row in await cursor.fetchall())

    async def list_embedded(
        self, database: str, among: Collection[str] | None = None
    ) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Id → the embedder and the roles of each example of the database; None: of all ids."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT id, embedder, roles FROM quorumsql.examples WHERE database = %(database)s"
                " AND (%(among)s::text[] IS NULL OR id = ANY (%(among)s::text[]))",
                {"database": database, "among": None if among is None else list(among)},
            )
            return {row[0]: (row[1], tuple(row[2])) for row in await cursor.fetchall()}

    async def remove(self, database: str, ids: Collection[str]) -> int:
        """How many of these were there, and are no more."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM quorumsql.examples WHERE database = %s AND id = ANY (%s)",
                (database, list(ids)),
            )
            return cursor.rowcount

    # -- feedback ------------------------------------------------------------------------------

    async def record_feedback(self, note: FeedbackNote) -> None:
        """Keeps what was said and what came of it; said again, it is one note with a new time."""
        async with self._store.connection() as connection:
            await connection.execute(
                "INSERT INTO quorumsql.feedback (id, database, question, sql, is_right, correction,"
                " given_by, access, outcome, given_at)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE"
                " SET given_at = EXCLUDED.given_at, outcome = EXCLUDED.outcome",
                (note.id, *(getattr(note, name) for name in _NOTE_COLUMNS)),
            )

    async def list_feedback(self, database: str) -> tuple[FeedbackNote, ...]:
        """All that was said of the database's answers, oldest first."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                sql.SQL(
                    "SELECT {columns} FROM quorumsql.feedback WHERE database = %s"
                    " ORDER BY given_at, id"
                ).format(columns=sql.SQL(", ").join(map(sql.Identifier, _NOTE_COLUMNS))),
                (database,),
            )
            return tuple(FeedbackNote(*row) for row in await cursor.fetchall())


async def _ensure_hnsw(connection: AsyncConnection[Any], dimensions: int) -> None:
    # IF NOT EXISTS alone still collides with somebody who creates it at the same moment.
    await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_HNSW_LOCK,))
    await connection.execute(
        sql.SQL(_HNSW).format(
            name=sql.Identifier(f"examples_hnsw_{dimensions}"), dimensions=sql.Literal(dimensions)
        )
    )


def _read_found(row: Sequence[Any]) -> FoundExample:
    id_, question, query, form, cosine = row
    return FoundExample(id_, question, query, form, float(cosine))


def _read_example(row: Sequence[Any]) -> VerifiedExample:
    values = dict(zip(_COLUMNS, row, strict=True))
    return VerifiedExample(
        **{**values, "tables": tuple(values["tables"]), "roles": tuple(values["roles"])}
    )
