"""The names of tables and columns for completion, as far as the principal may see them."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import quote

import httpx

from nl2sql.catalog import Table
from quorumsql import wire

# Somebody waits for the completion of a word.
_TIMEOUT_S = 1.0
_MOST_TABLES = 50


class SchemaNames(Protocol):
    """Finds names; has none where they cannot be found, and raises nothing."""

    def find_tables(self, start: str) -> Sequence[str]:
        """Qualified names of tables of which the whole or the last part begins like this."""
        ...

    def list_columns(self, table: str) -> Sequence[str]:
        """The columns of a table, named with or without its schema."""
        ...


class CatalogNames:
    """Names out of tables in this process."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._columns = {
            table.qualified: tuple(column.name for column in table.columns) for table in tables
        }

    def find_tables(self, start: str) -> Sequence[str]:
        """See SchemaNames."""
        return [name for name in self._columns if begins(name, start)][:_MOST_TABLES]

    def list_columns(self, table: str) -> Sequence[str]:
        """See SchemaNames."""
        name = find_name(self._columns, table)
        return () if name is None else self._columns[name]


class ServiceNames:
    """Names that a service tells: ``GET /databases/{database}/tables``, and one of them.

    What was found is kept until the end; what failed is asked for again.
    """

    def __init__(
        self,
        url: str,
        token: str,
        database: str,
        *,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """``transport`` takes the place of the network."""
        self._http = httpx.Client(
            base_url=wire.find_url(url),
            headers=wire.build_headers(wire.find_token(token)),
            timeout=_TIMEOUT_S,
            transport=transport,
        )
        self._tables_path = f"/databases/{quote(database, safe='')}/tables"
        self._found: dict[str, Sequence[str]] = {}
        self._columns: dict[str, Sequence[str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.close()

    def find_tables(self, start: str) -> Sequence[str]:
        """See SchemaNames."""
        if start not in self._found:
            told = self._get(self._tables_path, search=start, limit=str(_MOST_TABLES))
            names = _read_names(told, "tables", "table")
            if names is None:
                return ()
            # The service searches in comments and columns, too.
            self._found[start] = [name for name in names if begins(name, start)]
        return self._found[start]

    def list_columns(self, table: str) -> Sequence[str]:
        """See SchemaNames."""
        if table not in self._columns:
            name = find_name(self.find_tables(table), table)
            path = f"{self._tables_path}/{quote(name or '', safe='')}"
            told = None if name is None else self._get(path)
            columns = _read_names(told, "columns", "name")
            if columns is None:
                return ()
            self._columns[table] = columns
        return self._columns[table]

    def _get(self, path: str, **query: str) -> Any:
        """The JSON of a reply; None if there is none."""
        try:
            reply = self._http.get(path, params=query)
            return reply.json() if reply.is_success else None
        except (httpx.HTTPError, ValueError):
            return None


def begins(name: str, start: str) -> bool:
    """Whether the name, or what follows its last dot, begins like this in any case.

    >>> begins("sales.Orders", "ord"), begins("sales.orders", "sales.o"), begins("a.b", "c")
    (True, True, False)
    """
    folded, wanted = name.lower(), start.lower()
    return folded.startswith(wanted) or folded.rpartition(".")[2].startswith(wanted)


def find_name(names: Sequence[str] | dict[str, Any], name: str) -> str | None:
    """The qualified name that is meant by a whole name, or by what follows its last dot."""
    wanted = name.lower()
    return next(
        (each for each in names if wanted in (each.lower(), each.lower().rpartition(".")[2])), None
    )


def _read_names(told: Any, listed: str, key: str) -> list[str] | None:
    """The names in a list of a reply, without those that are not printable; None if it is none."""
    entries = told.get(listed) if isinstance(told, dict) else None
    if not isinstance(entries, list):
        return None
    names = (entry.get(key) for entry in entries if isinstance(entry, dict))
    return [name for name in names if isinstance(name, str) and name.isprintable()]
