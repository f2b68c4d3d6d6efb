"""Checks, plans and runs one guarded query on its own connection.

Remembers the last text that ran, so that positions in errors refer to the query. Knows nothing of
threads and time limits.
"""

from __future__ import annotations

import duckdb

from execution.allowlists import Allowlist
from execution.duckdb.errors import build_diagnostic
from execution.duckdb.file import OpenFile
from execution.duckdb.page import Page
from execution.duckdb.plan import Plan, read_plan
from execution.duckdb.statement import check_plan, check_query
from nl2sql.types import Diagnostic, GuardedQuery

_EXPLAIN = "EXPLAIN (FORMAT JSON) "


class Session:
    """One query on an open file; all methods raise duckdb.Error."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, file: OpenFile, query: GuardedQuery
    ) -> None:
        self._connection = connection
        self._file = file
        self._query = query
        self._text = query.sql
        self._offset = 0
        self._running = False

    def check(self, allowlist: Allowlist) -> Diagnostic | None:
        """Why the query must not run, or None."""
        return check_query(self._connection, self._query, self._file, allowlist)

    def plan(self, page: Page) -> Plan | Diagnostic:
        """The plan of a page, after checking that it reads no other table."""
        self._run(_EXPLAIN + page.sql, len(_EXPLAIN) + page.offset)
        row = self._connection.fetchone()
        assert row is not None
        plan = read_plan(str(row[1]))
        return check_plan(plan, self._query, self._file) or plan

    def describe(self, page: Page) -> list[tuple[str, str]]:
        """The names and types of the columns of a page without rows."""
        self._run(page.sql, page.offset)
        columns = self._connection.description or []
        return [(str(name), str(kind).strip('"')) for name, kind, *_ in columns]

    def execute(self, page: Page) -> duckdb.DuckDBPyConnection:
        """Starts the query of a page; the rows are fetched from the returned connection."""
        self._running = True
        return self._run(page.sql, page.offset)

    def explain_error(self, error: duckdb.Error) -> Diagnostic:
        """The error as a Diagnostic; positions count from the beginning of the query."""
        return build_diagnostic(
            error,
            self._text,
            offset=self._offset,
            restricted=self._query.restricted,
            running=self._running,
        )

    def _run(self, text: str, offset: int) -> duckdb.DuckDBPyConnection:
        self._text, self._offset = text, offset
        # A query has its list parameters as tuples, so that it is hashable.
        values = [
            list(param) if isinstance(param, tuple) else param for param in self._query.params
        ]
        return self._connection.execute(text, values)
