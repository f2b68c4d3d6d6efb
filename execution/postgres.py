"""The read-only door to one PostgreSQL database.

Four walls behind the guard: a role that can only SELECT (checked at every new connection, refused
otherwise), READ ONLY transactions, the extended protocol (``prepare=True``: under the simple one
``COMMIT; DELETE …`` would leave a read-only transaction), and always ROLLBACK. Time and rows are
limited here. Knows nothing of questions or candidates.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection, sql
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from nl2sql.errors import DatabaseUnavailable, InsecureRole
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, Explained, GuardedQuery, ResultSet

_CONNECT_TIMEOUT_S = 5
# A probe answers before whoever asked for it gives up.
_PROBE_TIMEOUT_S = 2
_EXPLAIN = "EXPLAIN (FORMAT JSON) "

# SQLSTATE classes and codes that mean "the server is going away", not "the query is wrong":
# connection exceptions, and the shutdown and cannot-connect-now codes of class 57.
_GONE_CLASSES = ("08",)
_GONE_CODES = ("57P01", "57P02", "57P03", "57P05")

_ROLE = """
SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls
       OR pg_has_role(current_user, 'pg_execute_server_program', 'MEMBER')
       OR pg_has_role(current_user, 'pg_read_server_files', 'MEMBER')
       OR pg_has_role(current_user, 'pg_write_server_files', 'MEMBER') AS powerful,
       (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
           AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
           AND (pg_has_role(c.relowner, 'MEMBER')
                OR has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))) AS writable
  FROM pg_roles WHERE rolname = current_user
"""


class PostgresDatabase:
    """EXPLAIN and read-only execution through a connection pool opened at the first use."""

    def __init__(
        self, name: str, url: str, limits: LimitSettings, *, search_path: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self._url = url
        self._limits = limits
        self._search_path = search_path
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] | None = None
        self._opening = asyncio.Lock()

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic:
        """The planner's estimate, or its error. Raises DatabaseUnavailable, InsecureRole."""
        rows = await self._run(
            _EXPLAIN + query.sql, query.params, self._limits.explain_timeout_ms, len(_EXPLAIN)
        )
        if isinstance(rows, Diagnostic):
            return rows
        root = rows[1][0][0][0]["Plan"]
        return Explained(cost=float(root["Total Cost"]), rows=float(root["Plan Rows"]))

    async def execute(self, query: GuardedQuery, max_rows: int) -> ResultSet | Diagnostic:
        """At most ``max_rows`` rows, or the database's error.

        One row more is fetched, to tell whether there were more. Raises DatabaseUnavailable,
        InsecureRole.
        """
        prefix = "SELECT * FROM (\n"
        page = f"{prefix}{query.sql}\n) AS page LIMIT {max_rows + 1}"
        start = time.perf_counter()
        answer = await self._run(page, query.params, self._limits.statement_timeout_ms, len(prefix))
        if isinstance(answer, Diagnostic):
            return answer
        columns, rows = answer
        return ResultSet(
            columns=tuple(name for name, _ in columns),
            types=tuple(kind for _, kind in columns),
            rows=tuple(rows[:max_rows]),
            truncated=len(rows) > max_rows,
            ms=(time.perf_counter() - start) * 1000,
        )

    async def probe(self) -> str:
        """What is wrong with this database; empty when all is well."""
        try:
            async with self._connection(_PROBE_TIMEOUT_S) as connection:
                await connection.execute("SELECT 1")
        except (DatabaseUnavailable, InsecureRole) as error:
            return str(error)
        return ""

    async def close(self) -> None:
        """Closes the pool; a later call opens it again."""
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    async def _run(
        self, statement: str, params: tuple[object, ...], timeout_ms: int, offset: int
    ) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]] | Diagnostic:
        """Columns (name, type) and rows; ``offset`` characters precede the query itself."""
        async with self._connection() as connection:
            try:
                async with connection.transaction(force_rollback=True):
                    await connection.execute(
                        sql.SQL("SET LOCAL statement_timeout = {}").format(timeout_ms)
                    )
                    cursor = await connection.execute(statement, params or None, prepare=True)
                    columns = [
                        (column.name, column.type_display) for column in cursor.description or ()
                    ]
                    return columns, await cursor.fetchall()
            except psycopg.Error as error:
                if connection.closed or _is_gone(error):
                    raise
                return _build_diagnostic(error, offset)

    @asynccontextmanager
    async def _connection(
        self, timeout_s: float = _CONNECT_TIMEOUT_S
    ) -> AsyncIterator[AsyncConnection[Any]]:
        try:
            pool = await self._open()
            async with pool.connection(timeout=timeout_s) as connection:
                yield connection
        except (PoolTimeout, psycopg.Error) as error:
            raise DatabaseUnavailable(
                f"The database {self.name!r} does not answer.",
                database=self.name,
                hint="Try again later; `quorumsql doctor` tells what is wrong.",
            ) from error

    async def _open(self) -> AsyncConnectionPool[AsyncConnection[Any]]:
        async with self._opening:
            if self._pool is None:
                await self._check_role()
                pool = AsyncConnectionPool(
                    self._url,
                    min_size=1,
                    max_size=self._limits.pool_size,
                    open=False,
                    configure=self._configure,
                    check=AsyncConnectionPool.check_connection,
                    reconnect_timeout=30,
                    kwargs={"connect_timeout": _CONNECT_TIMEOUT_S},
                    name=f"quorumsql-{self.name}",
                )
                await pool.open()
                self._pool = pool
            return self._pool

    async def _check_role(self) -> None:
        """Raises InsecureRole when the role could do more than read."""
        async with await AsyncConnection.connect(
            self._url, connect_timeout=_CONNECT_TIMEOUT_S
        ) as connection:
            row = await (await connection.execute(_ROLE)).fetchone()
            role = connection.info.user
        if row is None or row[0] or row[1]:
            raise InsecureRole(
                f"The role {role!r} of the database {self.name!r} could do more than read "
                f"({'special rights' if row and row[0] else f'{row[1] if row else 0} tables'}).",
                hint="Queries run only under a role that may SELECT and nothing else; "
                "`quorumsql doctor` prints the statements that create one.",
            )

    async def _configure(self, connection: AsyncConnection[Any]) -> None:
        await connection.set_read_only(True)
        if self._search_path:
            path = sql.SQL(", ").join(sql.Identifier(name) for name in self._search_path)
            await connection.execute(sql.SQL("SET search_path = {}").format(path))
            await connection.commit()


def _is_gone(error: psycopg.Error) -> bool:
    state = error.sqlstate or ""
    return state[:2] in _GONE_CLASSES or state in _GONE_CODES


def _build_diagnostic(error: psycopg.Error, offset: int) -> Diagnostic:
    """The error in the one form in which it travels; positions count from the query's start."""
    diag = error.diag
    position = int(diag.statement_position or 0)
    return Diagnostic(
        sqlstate=error.sqlstate or "",
        message=diag.message_primary or str(error).strip(),
        position=max(0, position - offset),
        hint=diag.message_hint or "",
    )
