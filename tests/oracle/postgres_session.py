"""One connection of the reading role, which runs plain and guarded SQL alike and reports outcomes.

The executor is left out on purpose: the oracle is about which rows the guard's SQL reads, and it
needs errors as the server gives them. Every statement runs under the extended protocol, as the
reader in a READ ONLY transaction that is rolled back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import RawCursor, sql
from psycopg.types.string import TextLoader

from execution.postgres.embedded import READER, EmbeddedServer
from tests.oracle.outcomes import Outcome, bind_values

MOST_ROWS = 20_000
# Types whose values Python cannot hold (infinity, years BC), or would tell apart though SQL does
# not (a row of a table, and one without a name): read as the server writes them.
_AS_TEXT = ("date", "time", "timetz", "timestamp", "timestamptz", "interval", "record", "json")
# The same for arrays of rows without a name (the type _record, which psycopg knows by no name).
_RECORD_ARRAY = 2287


class PostgresSession:
    """A connection to one database of the embedded server, with a search path and a time limit."""

    def __init__(
        self,
        server: EmbeddedServer,
        database: str,
        search_path: Sequence[str],
        *,
        timeout_ms: int = 3000,
        role: str = READER,
    ) -> None:
        """A ``role`` that is not the reader may write, and its changes stay.

        Its statements run as they are, without the page around them that allows queries only.
        """
        self.database = database
        self._url = server.url(database, role)
        self._is_reader = role == READER
        self._search_path = search_path
        self._timeout_ms = timeout_ms
        self._connect()

    def _connect(self) -> None:
        self._connection = psycopg.connect(self._url, autocommit=True, cursor_factory=RawCursor)
        for name in (*_AS_TEXT, _RECORD_ARRAY):
            self._connection.adapters.register_loader(name, TextLoader)
        path = sql.SQL(", ").join(map(sql.Identifier, self._search_path))
        self._connection.execute(sql.SQL("SET search_path = {}").format(path))
        for setting, value in (
            ("default_transaction_read_only", "on" if self._is_reader else "off"),
            ("statement_timeout", str(self._timeout_ms)),
            ("jit", "off"),
            ("max_parallel_workers_per_gather", "0"),
        ):
            self._connection.execute(
                sql.SQL("SET {} = {}").format(sql.Identifier(setting), sql.Literal(value))
            )

    def run(
        self, statement: str, params: Sequence[object] = (), *, planner: Sequence[str] = ()
    ) -> Outcome:
        """The rows of a query, at most ``MOST_ROWS``, or the server's error.

        ``planner`` names settings (``enable_seqscan`` …) that are off for this statement. Raises
        psycopg.Error when the statement ended the connection; the next one has another.
        """
        if self._connection.closed:
            self._connect()
        try:
            statement.encode()
        except UnicodeEncodeError as error:
            return Outcome(sqlstate="22021", message=str(error))
        page = statement
        if self._is_reader:
            page = f"SELECT * FROM (\n{statement}\n) AS page LIMIT {MOST_ROWS + 1}"
        connection = self._connection
        try:
            with connection.transaction(force_rollback=self._is_reader):
                for name in planner:
                    connection.execute(f"SET LOCAL {name} = off".encode())
                values = bind_values(params) or None
                cursor = connection.execute(page.encode(), values, prepare=True)
                columns = tuple(column.name for column in cursor.description or ())
                rows: list[tuple[Any, ...]] = cursor.fetchall()
        except psycopg.Error as error:
            if connection.closed:
                raise
            return Outcome(sqlstate=error.sqlstate or "?", message=_list_texts(error))
        return Outcome(columns, tuple(rows[:MOST_ROWS]), complete=len(rows) <= MOST_ROWS)

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        """All rows of a query of the tests' own. Raises psycopg.Error."""
        return self._connection.execute(query.encode()).fetchall()

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


def _list_texts(error: psycopg.Error) -> str:
    """All that the server said, since any of it could carry a value."""
    diag = error.diag
    texts = (diag.message_primary, diag.message_detail, diag.message_hint, diag.context)
    return " | ".join(text for text in texts if text) or str(error).strip()
