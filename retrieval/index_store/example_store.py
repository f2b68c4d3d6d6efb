"""Verified examples and feedback on answers, in the index's PostgreSQL with pgvector.

Examples belong to a database's name, not to a generation of its index: a new index does not change
them. The search query itself filters by principal, so that a page is not emptied by later filters.
The store does not call the guard: the caller does, before it shows an example.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection, sql

from nl2sql.types import VerifiedQuery
from retrieval.index_store.connections import Connections
from retrieval.index_store.feedback_note import FeedbackNote
from retrieval.index_store.verified_example import Source, VerifiedExample, fold_question

_HNSW: LiteralString = """
CREATE INDEX IF NOT EXISTS {name} ON quorumsql.examples
 USING hnsw ((embedding::vector({dimensions})) vector_cosine_ops)
 WHERE vector_dims(embedding) = {dimensions}
"""

# An arbitrary number that no other advisory lock of the product uses.
_HNSW_LOCK = 0x51534D

_COLUMNS = tuple(field.name for field in fields(VerifiedExample))
_NOTE_COLUMNS = tuple(field.name for field in fields(FeedbackNote))

_IS_VISIBLE: LiteralString = """
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
 WHERE vector_dims(embedding) = {dimensions} AND {is_visible}
 ORDER BY embedding::vector({dimensions}) <=> %(vector)s
 LIMIT %(limit)s
"""
)

_DRAWN = sql.SQL(
    """
SELECT id, question, sql, form, 0.0 AS cosine FROM quorumsql.examples
 WHERE {is_visible} ORDER BY md5(%(seed)s || id), id LIMIT %(limit)s
"""
)


_SAME_QUESTION = sql.SQL(
    """
SELECT sql, given_by, created_at, source FROM quorumsql.examples e
 WHERE {is_visible} AND folded = %(folded)s
   AND (source <> 'feedback' OR reviewed OR given_by = %(principal)s)
   AND NOT EXISTS (
       SELECT 1 FROM quorumsql.feedback f
        WHERE f.database = e.database AND f.sql = e.sql AND NOT f.is_right
          AND lower(f.question) = lower(e.question) AND f.given_by = %(principal)s
          AND f.given_at > e.created_at)
 ORDER BY created_at DESC, id LIMIT %(limit)s
"""
)
# Only the first that the guard passes is used.
_MOST_VERIFIED = 8


@dataclass(frozen=True, slots=True)
class Scope:
    """The examples that a search may return, as far as the store can decide.

    ``vectors``: the name of the vectors to search (``name_vectors``).
    ``sees_all``: the policy hides nothing of the database from anybody; otherwise feedback of
    another ``access`` is left out. Examples that read a table in ``hidden`` are left out, and so is
    the folded question ``not_folded``, if given.
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
    """A search result; ``cosine`` is 0 for an example that was drawn at random."""

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
        """At most ``limit`` examples of the scope, without those ``seen``, nearest first."""
        query = _NEAREST.format(
            dimensions=sql.Literal(len(vector)), is_visible=sql.SQL(_IS_VISIBLE)
        )
        return await self._find(query, scope, limit, seen, {"vector": vector})

    async def draw(
        self, scope: Scope, seed: int, limit: int, seen: Collection[str] = ()
    ) -> list[FoundExample]:
        """At most ``limit`` examples of the scope, in an order that depends only on ``seed``."""
        query = _DRAWN.format(is_visible=sql.SQL(_IS_VISIBLE))
        return await self._find(query, scope, limit, seen, {"seed": str(seed)})

    async def find_verified(self, scope: Scope, folded: str, principal: str) -> list[VerifiedQuery]:
        """The queries of the scope for one folded question, the latest first.

        Not the feedback of others, unless it is reviewed, nor what ``principal`` called wrong.
        """
        query = _SAME_QUESTION.format(is_visible=sql.SQL(_IS_VISIBLE))
        more: dict[str, object] = {"folded": folded, "principal": principal}
        rows = await self._fetch(query, scope, _MOST_VERIFIED, (), more)
        return [VerifiedQuery(*row) for row in rows]

    async def _find(
        self,
        query: sql.Composed,
        scope: Scope,
        limit: int,
        seen: Collection[str],
        more: dict[str, object],
    ) -> list[FoundExample]:
        return [_read_found(row) for row in await self._fetch(query, scope, limit, seen, more)]

    async def _fetch(
        self,
        query: sql.Composed,
        scope: Scope,
        limit: int,
        seen: Collection[str],
        more: dict[str, object],
    ) -> list[tuple[Any, ...]]:
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
            return await cursor.fetchall()

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
        """Stores the examples in one transaction; they replace examples of the same id."""
        if not examples:
            return
        rows = [
            (
                example.database,
                example.id,
                example.question,
                fold_question(example.question),
                example.masked,
                example.sql,
                example.form,
                list(example.tables),
                example.source,
                example.given_by,
                example.access,
                list(example.roles),
                example.created_at,
                embedder,
                vector,
                example.reviewed,
            )
            for example, vector in zip(examples, vectors, strict=True)
        ]
        async with self._store.connection() as connection, connection.transaction():
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    "INSERT INTO quorumsql.examples VALUES"
                    " (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
                    " ON CONFLICT (database, id) DO UPDATE SET question = EXCLUDED.question,"
                    " masked = EXCLUDED.masked, sql = EXCLUDED.sql, tables = EXCLUDED.tables,"
                    " source = EXCLUDED.source, given_by = EXCLUDED.given_by,"
                    " roles = EXCLUDED.roles, embedder = EXCLUDED.embedder,"
                    " embedding = EXCLUDED.embedding,"
                    " reviewed = examples.reviewed OR EXCLUDED.reviewed",
                    rows,
                )
            await _ensure_hnsw(connection, int(vectors.shape[1]))

    async def affirm(self, example: VerifiedExample) -> None:
        """Notes that a stored example was given again: it is the latest of its question.

        Once reviewed, it stays so.
        """
        async with self._store.connection() as connection:
            await connection.execute(
                "UPDATE quorumsql.examples SET created_at = greatest(created_at, %s),"
                " given_by = CASE WHEN %s >= reviewed THEN %s ELSE given_by END,"
                " reviewed = reviewed OR %s WHERE database = %s AND id = %s",
                (
                    example.created_at,
                    example.reviewed,
                    example.given_by,
                    example.reviewed,
                    example.database,
                    example.id,
                ),
            )

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
        """Id → the embedder and the roles of each example; ``among`` limits the ids."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT id, embedder, roles FROM quorumsql.examples WHERE database = %(database)s"
                " AND (%(among)s::text[] IS NULL OR id = ANY (%(among)s::text[]))",
                {"database": database, "among": None if among is None else list(among)},
            )
            return {row[0]: (row[1], tuple(row[2])) for row in await cursor.fetchall()}

    async def remove(self, database: str, ids: Collection[str]) -> int:
        """Removes the examples with these ids and returns their number."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM quorumsql.examples WHERE database = %s AND id = ANY (%s)",
                (database, list(ids)),
            )
            return cursor.rowcount

    # -- feedback ------------------------------------------------------------------------------

    async def record_feedback(self, note: FeedbackNote) -> None:
        """Stores the note; for one with the same id, updates its time and outcome.

        If it is given again, it waits for a reviewer again.
        """
        async with self._store.connection() as connection:
            await connection.execute(
                "INSERT INTO quorumsql.feedback (id, database, question, sql, is_right, correction,"
                " given_by, access, outcome, given_at)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE"
                " SET given_at = EXCLUDED.given_at, outcome = EXCLUDED.outcome,"
                " reviewed_by = '', reviewed_at = NULL, corrected_with = ''",
                (note.id, *(getattr(note, name) for name in _NOTE_COLUMNS)),
            )

    async def find_feedback(self, id_: str) -> FeedbackNote | None:
        """The feedback of that id."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                sql.SQL("SELECT {columns} FROM quorumsql.feedback WHERE id = %s").format(
                    columns=sql.SQL(", ").join(map(sql.Identifier, _NOTE_COLUMNS))
                ),
                (id_,),
            )
            row = await cursor.fetchone()
        return FeedbackNote(*row) if row else None

    async def remove_feedback(self, id_: str) -> None:
        """Removes the feedback; what its correction closed waits for a reviewer again."""
        async with self._store.connection() as connection, connection.transaction():
            await connection.execute(
                "UPDATE quorumsql.feedback SET reviewed_by = '', reviewed_at = NULL,"
                " corrected_with = '' WHERE corrected_with = %s",
                (id_,),
            )
            await connection.execute("DELETE FROM quorumsql.feedback WHERE id = %s", (id_,))

    async def list_feedback(self, database: str, *, access: str = "") -> tuple[FeedbackNote, ...]:
        """All feedback on the database's answers, oldest first; with ``access``, only its own."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                sql.SQL(
                    "SELECT {columns} FROM quorumsql.feedback WHERE database = %(database)s"
                    " AND (%(access)s = '' OR access = %(access)s) ORDER BY given_at, id"
                ).format(columns=sql.SQL(", ").join(map(sql.Identifier, _NOTE_COLUMNS))),
                {"database": database, "access": access},
            )
            return tuple(FeedbackNote(*row) for row in await cursor.fetchall())


async def _ensure_hnsw(connection: AsyncConnection[Any], dimensions: int) -> None:
    # IF NOT EXISTS alone fails if two transactions create the index at the same time.
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
