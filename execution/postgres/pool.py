"""Connections to one PostgreSQL database that stay usable when a caller is cancelled.

If a task is cancelled, psycopg asks the server to cancel its statement and waits for that; if it
takes longer than some seconds, the connection is closed. Work on a connection runs in a task of its
own, so that a cancelled caller need not wait so long. The connection then returns to the pool as
after any other error.

Knows nothing of queries.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, AsyncPipeline, AsyncRawCursor
from psycopg.conninfo import conninfo_to_dict

from execution.postgres.session import check_role
from execution.postgres.values import register_loaders
from execution.statement_threads import DatabaseTurns
from nl2sql.connection_failures import explain_failure
from nl2sql.errors import DatabaseUnavailable
from nl2sql.idle_connections import IdleConnections
from nl2sql.types import ExecutionLimits

Connection = AsyncConnection[Any]
_T = TypeVar("_T")

_CONNECT_TIMEOUT_S = 5
# How long a cancelled caller waits until its statement has ended, which takes milliseconds.
_STOP_S = 1


class ConnectionPool:
    """At most ``size`` connections at a time; the role is checked before the first use."""

    def __init__(self, name: str, url: str, size: int) -> None:
        self._name = name
        self._url = url
        self._turns = DatabaseTurns(name, size, processors=int(_is_here(url)))
        self._idle = IdleConnections(self._connect)
        self._is_checked = False
        # A task without a reference may be garbage-collected before its end.
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(
        self,
        work: Callable[[Connection], Awaitable[_T]],
        *,
        begin: Callable[[Connection], Awaitable[None]],
        who: str,
        limits: ExecutionLimits | None = None,
    ) -> _T:
        """Runs ``work`` on a connection and returns its result; rolls back an open transaction.

        ``begin`` comes first: if the connection is found to be lost then, another one is used.
        Waits for a turn of the principal ``who``, see ``DatabaseTurns``. Raises InsecureRole, Busy,
        and DatabaseUnavailable, also instead of a psycopg.Error that ``work`` raises.
        """
        since = time.monotonic()
        await self._turns.take(who, limits)
        task = asyncio.create_task(self._work(work, begin, since))
        self._tasks.add(task)
        task.add_done_callback(partial(self._finish, who))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            # A server that is silent must not hold the caller.
            await asyncio.wait({task}, timeout=_STOP_S)
            raise

    async def check(self, *, timeout_s: int) -> None:
        """Checks that the server answers, even while queries wait for a connection.

        Raises DatabaseUnavailable, InsecureRole.
        """
        async with await self._connect(timeout_s):
            pass

    async def close(self) -> None:
        """Closes the connections that are not in use; a later call opens others."""
        await self._idle.close()

    def _finish(self, who: str, task: asyncio.Task[Any]) -> None:
        self._turns.give_back(who)
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as retrieved; the caller gets it too

    async def _work(
        self,
        work: Callable[[Connection], Awaitable[_T]],
        begin: Callable[[Connection], Awaitable[None]],
        since: float,
    ) -> _T:
        is_second = False
        try:
            while True:
                async with self._idle.lend(since) as connection:
                    try:
                        await begin(connection)
                    except psycopg.Error:
                        if is_second or not connection.closed:
                            raise
                    else:
                        return await work(connection)
                # The server ended it since it was looked at; what else is idle will be no better.
                await self._idle.close()
                is_second = True
        except psycopg.Error as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> DatabaseUnavailable:
        return DatabaseUnavailable(
            f"The database {self._name!r} does not answer.",
            database=self._name,
            hint="Try again later; `quorumsql doctor` tells what is wrong.",
            said=explain_failure(error),
        )

    async def _connect(self, timeout_s: int | None = None) -> Connection:
        """A new connection, within ``timeout_s``. Raises DatabaseUnavailable, InsecureRole."""
        timeout_s = timeout_s or _CONNECT_TIMEOUT_S
        try:
            # psycopg's limit applies to each address and each step, this one to all of them.
            async with asyncio.timeout(timeout_s):
                connection = await AsyncConnection.connect(
                    self._url,
                    autocommit=True,
                    connect_timeout=timeout_s,
                    cursor_factory=AsyncRawCursor,
                    # Nothing is kept after a transaction, not even prepared statements.
                    prepare_threshold=None,
                )
                try:
                    await self._configure(connection)
                except BaseException:
                    await connection.close()
                    raise
                return connection
        except (TimeoutError, psycopg.Error) as error:
            raise self._unavailable(error) from error

    async def _configure(self, connection: Connection) -> None:
        register_loaders(connection)
        # In a database without an encoding, bytes that are not UTF-8 arrive only without this.
        if connection.info.parameter_status("server_encoding") != "SQL_ASCII":
            await connection.execute("SET client_encoding TO 'UTF8'")
        if not self._is_checked:
            # A pooler that knows no transactions shows here.
            async with connection.transaction():
                await check_role(connection, self._name)
            self._is_checked = True


def _is_here(url: str) -> bool:
    """Whether the server is on this machine.

    >>> _is_here("postgresql://me@db.example.com/shop"), _is_here("postgresql:///shop?host=/run/pg")
    (False, True)
    """
    hosts = str(conninfo_to_dict(url).get("host") or "").split(",")
    return all(host in ("", "localhost", "127.0.0.1", "::1") or host[0] == "/" for host in hosts)


@asynccontextmanager
async def pipelined(connection: Connection) -> AsyncIterator[AsyncPipeline]:
    """Sends the block's statements together; raises the first error, a psycopg.Error.

    psycopg's own block logs a warning if the error arrives before its end, which depends on timing.
    """
    failure: psycopg.Error | None = None
    try:
        async with connection.pipeline() as pipeline:
            try:
                yield pipeline
            except psycopg.Error as error:
                failure = error
    except psycopg.Error as error:
        raise failure or error from None
    if failure is not None:
        raise failure
