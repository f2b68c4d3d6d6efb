"""Stores the value index: one row for each column.

A column is replaced in one statement, so that readers never see part of it. A refresh changes the
version at its end; readers then load all values again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from psycopg.types.json import Jsonb

from retrieval.index_store.connections import Connections


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """One column's values. ``aliases`` maps words that mean a value to that value."""

    table: str
    column: str
    values: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def qualified(self) -> str:
        """``schema.table.column``."""
        return f"{self.table}.{self.column}"


# The smallest columns first, up to the limit.
_LOAD = """
SELECT table_name, column_name, texts, aliases
  FROM (SELECT *, sum(cardinality(texts)) OVER (
                    ORDER BY cardinality(texts), table_name, column_name) AS total
          FROM quorumsql.column_values
         WHERE database = %s AND texts <> '{}') AS sized
 WHERE total <= %s
 ORDER BY table_name, column_name
"""

_PUT = """
INSERT INTO quorumsql.column_values
       (database, table_name, column_name, mark, note, texts, aliases)
VALUES (%s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (database, table_name, column_name) DO UPDATE
   SET mark = excluded.mark, note = excluded.note, texts = excluded.texts,
       aliases = excluded.aliases, read_at = now()
"""

_PUBLISH = """
INSERT INTO quorumsql.value_heads (database, version) VALUES (%s, gen_random_uuid()::text)
    ON CONFLICT (database) DO UPDATE SET version = excluded.version
"""

# schema.table, and the column.
ColumnKey = tuple[str, str]


class ValueStore:
    """Reads and writes values. All methods raise IndexUnavailable."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def marks(self, database: str) -> dict[ColumnKey, tuple[str, str]]:
        """Stored column → its mark, and why it has no values (empty if it has)."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT table_name, column_name, mark, note FROM quorumsql.column_values"
                " WHERE database = %s",
                (database,),
            )
            rows = await cursor.fetchall()
        return {(row[0], row[1]): (row[2], row[3]) for row in rows}

    async def put(
        self,
        database: str,
        key: ColumnKey,
        mark: str,
        values: Sequence[str] = (),
        aliases: Mapping[str, str] | None = None,
        *,
        note: str = "",
    ) -> None:
        """Replaces one column."""
        async with self._store.connection() as connection:
            await connection.execute(
                _PUT, (database, *key, mark, note, list(values), Jsonb(dict(aliases or {})))
            )

    async def forget(self, database: str, keys: Collection[ColumnKey]) -> None:
        """Removes these columns."""
        async with self._store.connection() as connection:
            await connection.execute(
                "DELETE FROM quorumsql.column_values v"
                " USING unnest(%s::text[], %s::text[]) AS gone(table_name, column_name)"
                " WHERE v.database = %s AND v.table_name = gone.table_name"
                " AND v.column_name = gone.column_name",
                ([table for table, _ in keys], [column for _, column in keys], database),
            )

    async def publish(self, database: str) -> None:
        """Changes the version, so that readers load the values again."""
        async with self._store.connection() as connection:
            await connection.execute(_PUBLISH, (database,))

    async def version(self, database: str) -> str:
        """Changes with every ``publish``; empty before the first."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT version FROM quorumsql.value_heads WHERE database = %s", (database,)
            )
            row = await cursor.fetchone()
        return row[0] if row else ""

    async def load(self, database: str, most: int) -> list[ValueColumn]:
        """The columns with values, the smallest first, with at most ``most`` values in total."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(_LOAD, (database, most))
            rows = await cursor.fetchall()
        return [ValueColumn(row[0], row[1], tuple(row[2]), row[3]) for row in rows]

    async def count(self, database: str) -> tuple[int, int]:
        """The number of columns with values, and the number of values."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT count(*), coalesce(sum(cardinality(texts)), 0)"
                " FROM quorumsql.column_values WHERE database = %s AND texts <> '{}'",
                (database,),
            )
            row = await cursor.fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    async def drop(self, database: str) -> None:
        """Deletes all values of one database."""
        async with self._store.connection() as connection, connection.transaction():
            for table in ("column_values", "value_heads"):
                await connection.execute(
                    f"DELETE FROM quorumsql.{table} WHERE database = %s", (database,)
                )
