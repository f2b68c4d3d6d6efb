"""The base of the stores: runs statements over the connections that they share."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from psycopg import AsyncConnection

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from retrieval.index_store.store import IndexStore

_PRUNE_INTERVAL_S = 3600.0

Row = tuple[Any, ...]
Parameters = Mapping[str, Any]

_Form = TypeVar("_Form", bound="DataclassInstance")


class TableStore:
    """Reads and writes tables of the schema ``quorumsql``. All methods raise IndexUnavailable."""

    def __init__(self, index: IndexStore) -> None:
        self._index = index
        self._pruned_at = -float("inf")

    async def _fetch(self, statement: str, parameters: Parameters) -> list[Row]:
        """All rows of a statement."""
        async with self._index.connection() as connection:
            return await (await connection.execute(statement.encode(), parameters)).fetchall()

    async def _fetch_row(self, statement: str, parameters: Parameters) -> Row | None:
        """The first row of a statement."""
        return next(iter(await self._fetch(statement, parameters)), None)

    async def _change(self, statement: str, parameters: Parameters) -> int:
        """The number of rows that a statement changed."""
        async with self._index.connection() as connection:
            return (await connection.execute(statement.encode(), parameters)).rowcount

    async def _prune(self, statement: str, parameters: Parameters) -> None:
        """Runs a statement that deletes what is too old, at most once an hour."""
        if time.monotonic() - self._pruned_at >= _PRUNE_INTERVAL_S:
            self._pruned_at = time.monotonic()
            await self._change(statement, parameters)

    async def _list(
        self, form: type[_Form], table: str, rest: str, parameters: Parameters
    ) -> list[_Form]:
        """Rows of a table, whose columns are named like the fields of ``form``, lists as tuples.

        ``rest`` is what follows ``FROM``.
        """
        names = ", ".join(field.name for field in fields(form))
        rows = await self._fetch(f"SELECT {names} FROM quorumsql.{table} {rest}", parameters)
        return [read_row(form, row) for row in rows]

    async def _insert(self, table: str, rows: Sequence[Parameters], rest: str = "") -> None:
        """Inserts rows with the same columns, in one transaction; ``rest``: ``ON CONFLICT …``."""
        if rows:
            async with self._index.connection() as connection, connection.transaction():
                await insert(connection, table, rows, rest)


async def insert(
    connection: AsyncConnection[Any], table: str, rows: Sequence[Parameters], rest: str = ""
) -> None:
    """Inserts rows with the same columns; their texts in the form that PostgreSQL can store."""
    names = tuple(rows[0])
    places = ", ".join(f"%({name})s" for name in names)
    statement = f"INSERT INTO quorumsql.{table} ({', '.join(names)}) VALUES ({places}) {rest}"
    cleaned = [{name: clean(value) for name, value in row.items()} for row in rows]
    async with connection.cursor() as cursor:
        await cursor.executemany(statement.encode(), cleaned)


def read_row(form: type[_Form], row: Iterable[Any]) -> _Form:
    """A row as a dataclass, with tuples for lists."""
    return form(*(tuple(value) if isinstance(value, list) else value for value in row))


def clean(value: Any) -> Any:
    """Texts without what PostgreSQL cannot store: null characters and lone surrogates.

    >>> clean("a\\0b"), clean(("c\\0",)), clean(1)
    ('ab', ['c'], 1)
    """
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return [clean(item) for item in value] if isinstance(value, tuple | list) else value
