"""Connections to one PostgreSQL database that stay usable when a caller is cancelled.

A task that is cancelled in the middle of the protocol would leave an unusable connection and a
backend that goes on working. So work on a connection runs in a separate task that is never
cancelled. If its caller is cancelled, the server is asked to cancel the statement, repeatedly until
the work has ended, because a request that arrives between two statements is lost. The connection
then returns to the pool as after any other error.

Knows nothing of queries. If the server can no longer be reached, the connection is abandoned after
some seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, AsyncPipeline, AsyncRawCursor
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from execution.postgres.role import check_role
from execution.postgres.values import register_loaders
from nl2sql.errors import DatabaseUnavailable
from nl2sql.shared_work import SharedWork
from nl2sql.sockets import is_quiet

Connection = AsyncConnection[Any]
_T = TypeVar("_T")

_CONNECT_TIMEOUT_S = 5
_RECONNECT_TIMEOUT_S = 30
# A cancelled statement ends within milliseconds; asked too early, it has to be asked again.
_ASK_AGAIN_S = 0.05
_GIVE_UP_S = 5
# How long a cancelled caller waits for that.
_STOP_S = 1


class ConnectionPool:
    """At most ``size`` connections, opened at the first use, after a check of the role."""

    def __init__(self, name: str, url: str, size: int) -> None:
        self._name = name
        self._url = url
        self._size = size
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._opening = SharedWork[AsyncConnectionPool[Connection]]()
        # A task without a reference may be garbage-collected before its end.
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(
        self,
        work: Callable[[Connection], Awaitable[_T]],
        *,
        timeout_s: float = _CONNECT_TIMEOUT_S,
    ) -> _T:
        """Runs ``work`` on a connection and returns its result; rolls back an open transaction.

        Waits ``timeout_s`` for a connection. Raises InsecureRole, and DatabaseUnavailable, also
        instead of a psycopg.Error that ``work`` raises.
        """
        use = _Use()
        task = self._start(self._work(work, use, timeout_s))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                # Usually milliseconds; a server that is silent must not hold the caller.
                await asyncio.wait({self._start(use.stop(task))}, timeout=_STOP_S)
            raise

    async def check(self, *, timeout_s: int) -> None:
        """Checks that the server answers, even while queries wait for a connection.

        Raises DatabaseUnavailable, InsecureRole.
        """
        try:
            await self._open()
            async with await AsyncConnection.connect(
                self._url, connect_timeout=timeout_s
            ) as connection:
                await connection.execute("SELECT 1")
        except (PoolTimeout, TimeoutError, psycopg.Error) as error:
            raise self._unavailable() from error

    async def close(self) -> None:
        """Closes all connections; a later call opens them again."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    def _start(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)
        return task

    def _finish(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as retrieved; the caller gets it too

    async def _work(
        self, work: Callable[[Connection], Awaitable[_T]], use: _Use, timeout_s: float
    ) -> _T:
        try:
            async with asyncio.timeout(timeout_s):
                pool = await self._open()
            async with (
                pool.connection(timeout=timeout_s) as connection,
                _rolling_back(connection),
                use.of(connection),
            ):
                return await work(connection)
        except (PoolTimeout, TimeoutError, psycopg.Error) as error:
            raise self._unavailable() from error

    def _unavailable(self) -> DatabaseUnavailable:
        return DatabaseUnavailable(
            f"The database {self._name!r} does not answer.",
            database=self._name,
            hint="Try again later; `quorumsql doctor` tells what is wrong.",
        )

    async def _open(self) -> AsyncConnectionPool[Connection]:
        return self._pool or await self._opening.run("", self._open_pool)

    async def _open_pool(self) -> AsyncConnectionPool[Connection]:
        # psycopg's limit applies to each address and each step, this one to all of them.
        async with asyncio.timeout(_CONNECT_TIMEOUT_S):
            async with await AsyncConnection.connect(
                self._url, connect_timeout=_CONNECT_TIMEOUT_S
            ) as connection:
                await check_role(connection, self._name)
        pool = AsyncConnectionPool(
            self._url,
            min_size=1,
            max_size=self._size,
            open=False,
            configure=_configure,
            check=_check,
            reconnect_timeout=_RECONNECT_TIMEOUT_S,
            kwargs={
                "autocommit": True,
                "connect_timeout": _CONNECT_TIMEOUT_S,
                "cursor_factory": AsyncRawCursor,
                # Nothing is kept after a transaction, not even prepared statements.
                "prepare_threshold": None,
            },
            name=f"quorumsql-{self._name}",
        )
        await pool.open()
        self._pool = pool
        return pool


class _Use:
    """One caller's use of a connection, which may be stopped from outside."""

    def __init__(self) -> None:
        self._connection: Connection | None = None
        self._stopped = False
        # Held while the server is asked to cancel: the connection must not meanwhile go on to the
        # ROLLBACK, or to the next caller, whose statement would be cancelled.
        self._asking = asyncio.Lock()

    @asynccontextmanager
    async def of(self, connection: Connection) -> AsyncIterator[None]:
        if self._stopped:
            raise asyncio.CancelledError
        self._connection = connection
        try:
            yield
        finally:
            async with self._asking:
                self._connection = None

    async def stop(self, task: asyncio.Task[Any]) -> None:
        """Cancels the work; returns when it has ended, or only waits for a connection."""
        self._stopped = True
        give_up = asyncio.get_running_loop().time() + _GIVE_UP_S
        while not task.done():
            async with self._asking:
                if self._connection is None:
                    return
                with suppress(psycopg.Error, OSError):
                    await self._connection.cancel_safe(timeout=_GIVE_UP_S)
            await asyncio.wait({task}, timeout=_ASK_AGAIN_S)
            if asyncio.get_running_loop().time() > give_up:
                task.cancel()
                return


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


@asynccontextmanager
async def _rolling_back(connection: Connection) -> AsyncIterator[None]:
    try:
        yield
    finally:
        states = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
        if connection.info.transaction_status in states:
            await connection.rollback()


async def _check(connection: Connection) -> None:
    """Raises psycopg.Error if the server has ended the connection.

    Asks the server only if it has sent something since, to save a round trip for each use.
    """
    if not is_quiet(connection.fileno()):
        await AsyncConnectionPool.check_connection(connection)


async def _configure(connection: Connection) -> None:
    register_loaders(connection)
    # In a database without an encoding, bytes that are not UTF-8 arrive only without this setting.
    if connection.info.parameter_status("server_encoding") != "SQL_ASCII":
        await connection.execute("SET client_encoding TO 'UTF8'")
