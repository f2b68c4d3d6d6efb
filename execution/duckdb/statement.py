"""Runs a guarded query after the last check: what DuckDB itself finds in the text before it runs.

That check is independent of sqlglot and the guard, in two steps with DuckDB's own readings: its
tree (``second_check.py``) is one SELECT that reads only the tables that the ``GuardedQuery`` names
and calls only functions of the allowlist or of the file's views, none of which is a macro of the
file; and its plan, in which every name, view and macro is resolved, scans only those tables and the
columns of them that the guard found, and what the plans of the query's views and generated columns
scan by themselves.

Gaps: the first does not see what a view reads and calls; the second, a table for which the planner
uses statistics (``count(*)``), filters that it drops because all rows pass, and whether a view or
generated column scans what it brings, or the query itself does. The file and its views have the
same owner, and nothing else is attached.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import duckdb

from execution.allowlists import Allowlist
from execution.duckdb.errors import build_diagnostic, is_gone
from execution.duckdb.file import OpenFile, SharedFile, refuse_file
from execution.duckdb.plan import EXPLAIN, Plan, list_scans, read_plan, weigh_plan
from execution.duckdb.second_check import check_statement
from execution.results.collector import PageQuery
from execution.statement_threads import Answer, Statement
from nl2sql.duckdb_files import ATTACHED, describe_duckdb_error
from nl2sql.settings import LimitSettings
from nl2sql.sql.names import fold_name
from nl2sql.types import Diagnostic, Explained, GuardedQuery


class DuckdbStatement(Statement[Answer]):
    """A guarded query, for which ``work`` finds the answer by the methods ``plan`` and so on.

    They raise duckdb.Error.
    """

    def __init__(
        self,
        shared: SharedFile,
        query: GuardedQuery,
        allowlist: Allowlist,
        work: Callable[[DuckdbStatement[Any]], Answer | Diagnostic],
        limits: LimitSettings,
    ) -> None:
        super().__init__(query, limits)
        self._shared = shared
        self._allowlist = allowlist
        self._work = work
        # What is running: the whole text, and how much of it precedes the query.
        self._text = query.sql
        self._offset = 0
        # True once rows may be read: from then on errors may quote them.
        self._running = False

    def run(self) -> Answer | Diagnostic:
        """The answer, or the database's error. Raises DatabaseUnavailable."""
        with self._shared.use() as file:
            try:
                with file.connect() as connection, self.stoppable(connection.interrupt):
                    return self._run_on(connection, file)
            except duckdb.Error as error:
                self._shared.drop(file)
                reason = describe_duckdb_error(error)
                raise refuse_file(self.query.database, self._shared.path, reason) from error

    def _run_on(self, connection: duckdb.DuckDBPyConnection, file: OpenFile) -> Answer | Diagnostic:
        """Runs the query. Raises duckdb.Error if the file is at fault."""
        self._connection, self._file = connection, file
        try:
            refusal = check_query(self.query, file, self._allowlist)
            return refusal or self._work(self)
        except duckdb.Error as error:
            if is_gone(error):
                raise
            return build_diagnostic(
                error,
                self._text,
                offset=self._offset,
                restricted=self.query.restricted,
                running=self._running,
            )

    def plan(self, page: PageQuery, most_pairs: int) -> Explained | Diagnostic:
        """The estimate of a page, or why it must not run; ``most_pairs``: see ``weigh_plan``."""
        self._execute(EXPLAIN + page.sql, len(EXPLAIN) + page.offset)
        row = self._connection.fetchone()
        assert row is not None
        plan = read_plan(str(row[1]))
        refusal = check_plan(plan, self.query, self._file)
        return refusal or weigh_plan(plan, most_pairs, restricted=self.query.restricted)

    def describe(self, page: PageQuery) -> list[tuple[str, str]]:
        """The names and types of the columns of a page without rows."""
        self._execute(page.sql, page.offset)
        columns = self._connection.description or []
        return [(str(name), str(kind).strip('"')) for name, kind, *_ in columns]

    def execute(self, page: PageQuery) -> duckdb.DuckDBPyConnection:
        """Starts the query of a page; the rows are fetched from the returned connection."""
        self._running = True
        return self._execute(page.sql, page.offset)

    def _execute(self, text: str, offset: int) -> duckdb.DuckDBPyConnection:
        self._text, self._offset = text, offset
        # A query has its list parameters as tuples, so that it is hashable.
        values = [list(param) if isinstance(param, tuple) else param for param in self.query.params]
        return self._connection.execute(text, values)


_SYNTAX_ERROR = "42601"
_NOT_ALLOWED = "42501"

# Leaves of a plan that do not scan a table.
_HARMLESS = frozenset(
    "COLUMN_DATA_SCAN CTE_SCAN DELIM_SCAN DUMMY_SCAN EMPTY_RESULT EXPRESSION_SCAN GENERATE_SERIES "
    "JSON_EACH JSON_TREE RANGE REC_CTE_SCAN UNNEST".split()
)


def check_query(query: GuardedQuery, file: OpenFile, allowlist: Allowlist) -> Diagnostic | None:
    """Why the query must not run, or None."""
    try:
        # The query of a view may have replaced it, so that row policies apply inside.
        violation = check_statement(
            query.sql, query.tables, allowlist, functions=file.view_functions, macros=file.macros
        )
    except RecursionError:
        return Diagnostic("54001", "The query is nested too deeply.")
    if violation is not None:
        is_syntax = violation.code in ("multiple_statements", "unparsable")
        return Diagnostic(_SYNTAX_ERROR if is_syntax else _NOT_ALLOWED, violation.message)
    return None


def check_plan(plan: Plan, query: GuardedQuery, file: OpenFile) -> Diagnostic | None:
    """Why the plan of the query must not run, or None."""
    named = {fold_name(name, "duckdb") for name in query.tables}
    objects = named.union(query.reads or ())
    brought = frozenset[tuple[str, str]]().union(*map(file.find_brought, objects))
    tables = {f"{ATTACHED}.{name}" for name in named}.union(table for table, _ in brought)
    columns = {f"{ATTACHED}.{name}" for name in query.reads or ()}.union(map(".".join, brought))
    for table, name in sorted(list_scans(plan)):
        if table not in tables and (table or name not in _HARMLESS):
            return Diagnostic(_NOT_ALLOWED, f"The query would read {table or name}.")
        if table and name and query.reads is not None and not _may_read(table, name, columns):
            return Diagnostic(_NOT_ALLOWED, f"The query would read the column {name}.")
    return None


def _may_read(table: str, column: str, readable: Collection[str]) -> bool:
    """Whether the column is among those, or is a field of one that is a struct."""
    # A name of several lines appears in the plan as several names.
    return any(
        column == name or column.startswith(f"{name}.") or column in name.split("\n")
        for name in (read.removeprefix(f"{table}.") for read in readable)
    )
