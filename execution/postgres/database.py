"""The read-only connection to one PostgreSQL database.

Four restrictions in addition to the guard: a role that can only SELECT (checked before the first
query), READ ONLY transactions, the extended protocol (under the simple one ``COMMIT; DELETE …``
would leave a read-only transaction), and always ROLLBACK. A query is described and planned before
it runs; it does not run if its plan expects too many rows, or reads or calls what the guard did not
allow (``plan_verification.py``). Time, rows, bytes and cells are limited.

A query takes four round trips: one opens the transaction, one describes and plans, one fetches the
page, one rolls back; one with an extension's names takes one more, before it is planned.

Statements are sent as bytes, whatever the connection's encoding.

Knows nothing of questions or candidates. Limit: EXPLAIN writes out constants, so the service
receives a long text completely if a call computes it from constants; the guard refuses such calls.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, cast

import psycopg
from psycopg import AsyncCursor, AsyncPipeline
from psycopg.adapt import Transformer
from psycopg.pq import Format

from execution.allowlists import Allowlist, load_allowlist
from execution.postgres.errors import build_diagnostic, is_gone
from execution.postgres.page import DESCRIBE_PREFIX, DescribedColumn, build_description, build_page
from execution.postgres.plan import weigh_plan
from execution.postgres.plan_verification import EXPLAIN, PlanChecker
from execution.postgres.pool import Connection, ConnectionPool, pipelined
from execution.postgres.session import (
    WITHOUT_INDEX_ORDER,
    apply_settings,
    assume_identity,
    build_settings,
    render_beginning,
)
from execution.results.collector import ResultBuilder, tighten_limits
from nl2sql.errors import DatabaseUnavailable, InsecureRole
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, ExecutionLimits, Explained, GuardedQuery, ResultSet

# A probe answers before its caller's time limit.
_PROBE_TIMEOUT_S = 2

_NO_RIGHT = "42501"


class PostgresDatabase:
    """EXPLAIN and read-only execution through a connection pool opened at the first use."""

    def __init__(
        self,
        name: str,
        url: str,
        limits: LimitSettings,
        *,
        search_path: tuple[str, ...] = (),
        allowlist: Allowlist | None = None,
    ) -> None:
        """``allowlist`` is the guard's for this database; None means the dialect's."""
        self.name = name
        self._limits = limits
        self._search_path = search_path
        self._pool = ConnectionPool(name, url, limits.pool_size)
        self._type_names: dict[int, str] = {}
        self._plans = PlanChecker((allowlist or load_allowlist("postgres")).functions)

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic:
        """The planner's estimate, or why the query would not run.

        Raises DatabaseUnavailable, InsecureRole.
        """

        async def work(connection: Connection) -> Explained | Diagnostic:
            try:
                if own := await self._plans.check_definitions(connection, query):
                    return own
                async with pipelined(connection) as pipeline:
                    await self._prepare(connection, pipeline, query)
                    planned = await connection.execute((EXPLAIN + query.sql).encode(), _bind(query))
                return await self._weigh(connection, planned, query, self._limits.max_rows)
            except psycopg.Error as error:
                return _describe_error(error, connection, query, offset=len(EXPLAIN))

        return await self._pool.run(work, begin=self._begin, who=query.principal)

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        """At most ``max_rows`` rows, or the database's error.

        One row more is fetched, to tell whether there were more. Raises DatabaseUnavailable,
        InsecureRole.
        """

        async def work(connection: Connection) -> ResultSet | Diagnostic:
            within = tighten_limits(self._limits, limits)
            start = time.perf_counter()
            running = False
            try:
                if own := await self._plans.check_definitions(connection, query):
                    return own
                async with pipelined(connection) as pipeline:
                    await self._prepare(connection, pipeline, query)
                    description = build_description(query.sql).encode()
                    described = await connection.execute(description, _bind(query))
                    explain = (EXPLAIN + query.sql).encode()
                    planned = await connection.execute(explain, _bind(query))
                    timeout = ("statement_timeout", str(within.statement_timeout_ms))
                    await apply_settings(connection, [timeout])
                explained = await self._weigh(connection, planned, query, max_rows)
                if isinstance(explained, Diagnostic):
                    return explained
                running = True
                builder = await self._fetch(connection, described, query, max_rows, within)
                types = await self._name_types(connection, described)
            except psycopg.Error as error:
                offset = len(DESCRIBE_PREFIX)
                return _describe_error(error, connection, query, offset=offset, running=running)
            return builder.build(types, (time.perf_counter() - start) * 1000)

        begin = partial(self._begin, tighter=limits)
        return await self._pool.run(work, begin=begin, who=query.principal, limits=limits)

    async def probe(self) -> str:
        """What is wrong with this database; empty if nothing is."""
        try:
            await self._pool.check(timeout_s=_PROBE_TIMEOUT_S)
        except DatabaseUnavailable as error:
            return error.details
        except InsecureRole as error:
            return str(error)
        return ""

    async def close(self) -> None:
        """Closes the pool; a later call opens it again."""
        await self._pool.close()

    # -- one transaction -----------------------------------------------------------------------

    async def _begin(self, connection: Connection, tighter: ExecutionLimits | None = None) -> None:
        """Opens the transaction with the limits for planning. Raises psycopg.Error."""
        limits = tighten_limits(self._limits, tighter)
        settings = build_settings(
            limits,
            timeout_ms=limits.statement_timeout_ms,
            search_path=self._search_path,
            server_version=connection.info.server_version,
        )
        await connection.execute(render_beginning(settings))

    async def _prepare(
        self, connection: Connection, pipeline: AsyncPipeline, query: GuardedQuery
    ) -> None:
        """Makes the settings and assumes the role that the guard asks for."""
        if query.avoids_index_order:
            await apply_settings(connection, WITHOUT_INDEX_ORDER)
        if query.session is None:
            return
        try:
            await assume_identity(connection, query.session)
            await pipeline.sync()
        except psycopg.Error as error:
            raise DatabaseUnavailable(
                f"The database {self.name!r} does not let queries run as the role "
                f"{query.session.role!r}.",
                database=self.name,
                hint="Does the role exist, and is the reader a member of it?",
            ) from error

    async def _weigh(
        self,
        connection: Connection,
        planned: AsyncCursor[Any],
        query: GuardedQuery,
        max_rows: int,
    ) -> Explained | Diagnostic:
        """The estimate of the plan that EXPLAIN returned, or why the query must not run."""
        plan = await self._plans.check(connection, planned, query)
        if isinstance(plan, Diagnostic):
            return plan
        most = self._limits.max_estimated_rows
        return weigh_plan(plan, max_rows + 1, most, restricted=query.restricted)

    async def _fetch(
        self,
        connection: Connection,
        described: AsyncCursor[Any],
        query: GuardedQuery,
        max_rows: int,
        limits: LimitSettings,
    ) -> ResultBuilder:
        """Fetches the page. Raises psycopg.Error."""
        columns = described.description or []
        page = build_page(query.sql, _describe_columns(connection, described), max_rows + 1, limits)
        names = [column.name for column in columns]
        builder = ResultBuilder(names, max_rows, limits, page.readers)
        rows = connection.cursor().stream(page.sql.encode(), _bind(query), size=page.rows_a_chunk)
        async with aclosing(cast(AsyncGenerator[Any], rows)):
            async for row in rows:
                if not builder.add(row):
                    break
        return builder

    async def _name_types(
        self, connection: Connection, described: AsyncCursor[Any]
    ) -> tuple[str, ...]:
        """The columns' types as psycopg names them; types that it does not know, as the server."""
        names = []
        for column in described.description or ():
            oid = column.type_code
            if connection.adapters.types.get(oid) is not None:
                names.append(column.type_display)
                continue
            if oid not in self._type_names:
                cursor = await connection.execute("SELECT format_type($1, NULL)", [oid])
                row = await cursor.fetchone()
                self._type_names[oid] = row[0] if row else str(oid)
            names.append(self._type_names[oid])
        return tuple(names)


def _bind(query: GuardedQuery) -> list[object]:
    """The values for the placeholders; a tuple is sent as an array, not as a row."""
    return [list(value) if isinstance(value, tuple) else value for value in query.params]


def _describe_columns(connection: Connection, described: AsyncCursor[Any]) -> list[DescribedColumn]:
    result = described.pgresult
    if result is None:
        return []
    transformer = Transformer(connection)

    def build_load(oid: int) -> Callable[[str], object]:
        load = transformer.get_loader(oid, Format.TEXT).load
        return lambda text: load(text.encode())

    return [
        DescribedColumn(result.ftype(at), result.fmod(at), build_load(result.ftype(at)))
        for at in range(result.nfields)
    ]


def _describe_error(
    error: psycopg.Error,
    connection: Connection,
    query: GuardedQuery,
    *,
    offset: int,
    running: bool = False,
) -> Diagnostic:
    """The query's error as a Diagnostic; re-raises an error of the connection."""
    if connection.closed or is_gone(error):
        raise error
    found = build_diagnostic(error, offset=offset, restricted=query.restricted, running=running)
    if found.sqlstate != _NO_RIGHT or query.restricted:
        return found
    hint = "If the reader may read some columns of the table, name them instead of *."
    return replace(found, hint=hint)
