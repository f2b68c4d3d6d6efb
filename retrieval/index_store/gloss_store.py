"""Descriptions of columns that the model wrote, valid until their prompt changes."""

from __future__ import annotations

from collections.abc import Mapping

from retrieval.index_store.connections import Connections


class GlossStore:
    """Reads and writes glosses. All methods raise IndexUnavailable."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def load(self, database: str) -> dict[str, tuple[str, str]]:
        """``schema.table.column`` → the hash of its prompt and its gloss, which may be empty."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT name, prompt, gloss FROM quorumsql.model_glosses WHERE database = %s",
                (database,),
            )
            rows = await cursor.fetchall()
        return {row[0]: (row[1], row[2]) for row in rows}

    async def put(self, database: str, prompt: str, glosses: Mapping[str, str]) -> None:
        """Replaces the glosses of these columns, in one transaction."""
        async with (
            self._store.connection() as connection,
            connection.transaction(),
            connection.cursor() as cursor,
        ):
            await cursor.executemany(
                "INSERT INTO quorumsql.model_glosses VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (database, name) DO UPDATE"
                " SET prompt = excluded.prompt, gloss = excluded.gloss",
                [(database, name, prompt, gloss) for name, gloss in glosses.items()],
            )

    async def drop(self, database: str) -> None:
        """Deletes all glosses of one database."""
        async with self._store.connection() as connection:
            await connection.execute(
                "DELETE FROM quorumsql.model_glosses WHERE database = %s", (database,)
            )
