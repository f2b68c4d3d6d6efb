"""Stores the value index: one row for each column.

A column is replaced in one statement, so that readers never see part of it. A refresh changes the
version at its end; readers then load all values again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from psycopg.types.json import Jsonb

from retrieval.index_store.table_store import TableStore, read_row


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
         WHERE database = %(database)s AND texts <> '{}') AS sized
 WHERE total <= %(most)s
 ORDER BY table_name, column_name
"""

# schema.table, and the column.
ColumnKey = tuple[str, str]


class ValueStore(TableStore):
    """Reads and writes values. All methods raise IndexUnavailable."""

    async def marks(self, database: str) -> dict[ColumnKey, tuple[str, str]]:
        """Stored column → its mark, and why it has no values (empty if it has)."""
        rows = await self._fetch(
            "SELECT table_name, column_name, mark, note FROM quorumsql.column_values"
            " WHERE database = %(database)s",
            {"database": database},
        )
        return {(table, column): (mark, note) for table, column, mark, note in rows}

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
        row = {
            "database": database,
            "table_name": key[0],
            "column_name": key[1],
            "mark": mark,
            "note": note,
            "texts": list(values),
            "aliases": Jsonb(dict(aliases or {})),
        }
        await self._insert(
            "column_values",
            [row],
            "ON CONFLICT (database, table_name, column_name) DO UPDATE SET mark = EXCLUDED.mark,"
            " note = EXCLUDED.note, texts = EXCLUDED.texts, aliases = EXCLUDED.aliases,"
            " read_at = now()",
        )

    async def forget(self, database: str, keys: Collection[ColumnKey]) -> None:
        """Removes these columns."""
        await self._change(
            "DELETE FROM quorumsql.column_values v"
            " USING unnest(%(tables)s::text[], %(columns)s::text[])"
            " AS gone(table_name, column_name)"
            " WHERE v.database = %(database)s AND v.table_name = gone.table_name"
            " AND v.column_name = gone.column_name",
            {
                "database": database,
                "tables": [table for table, _ in keys],
                "columns": [column for _, column in keys],
            },
        )

    async def publish(self, database: str) -> None:
        """Sets the version to that of the stored values, so that readers load what changed.

        It is computed, so that it is right after a run that was killed before it published, too.
        """
        await self._change(
            "INSERT INTO quorumsql.value_heads (database, version)"
            " SELECT %(database)s, md5(coalesce(string_agg("
            "     concat_ws('.', table_name, column_name, extract(epoch FROM read_at)), ','"
            "     ORDER BY table_name, column_name), ''))"
            "   FROM quorumsql.column_values WHERE database = %(database)s"
            " ON CONFLICT (database) DO UPDATE SET version = EXCLUDED.version",
            {"database": database},
        )

    async def version(self, database: str) -> str:
        """Changes with a ``publish`` of other values; empty before the first."""
        row = await self._fetch_row(
            "SELECT version FROM quorumsql.value_heads WHERE database = %(database)s",
            {"database": database},
        )
        return row[0] if row else ""

    async def load(self, database: str, most: int) -> list[ValueColumn]:
        """The columns with values, the smallest first, with at most ``most`` values in total."""
        rows = await self._fetch(_LOAD, {"database": database, "most": most})
        return [read_row(ValueColumn, row) for row in rows]

    async def count(self, database: str) -> tuple[int, int]:
        """The number of columns with values, and the number of values."""
        row = await self._fetch_row(
            "SELECT count(*), coalesce(sum(cardinality(texts)), 0)"
            " FROM quorumsql.column_values WHERE database = %(database)s AND texts <> '{}'",
            {"database": database},
        )
        return (int(row[0]), int(row[1])) if row else (0, 0)

    async def drop(self, database: str) -> None:
        """Deletes all values of one database."""
        for table in ("value_heads", "column_values"):
            await self._change(
                f"DELETE FROM quorumsql.{table} WHERE database = %(database)s",
                {"database": database},
            )
