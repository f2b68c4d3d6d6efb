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
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, AsyncPipeline, AsyncRawCursor
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

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
# A cancelled statement ends within milliseconds; asked too early, it has to be asked again.
_ASK_AGAIN_S = 0.05
_GIVE_UP_S = 5
# How long a cancelled caller waits for that.
_STOP_S = 1


async def _begin_nothing(connection: Connection) -> None:
    return


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
        begin: Callable[[Connection], Awaitable[None]] = _begin_nothing,
        who: str = "",
        limits: ExecutionLimits | None = None,
    ) -> _T:
        """Runs ``work`` on a connection and returns its result; rolls back an open transaction.

        ``begin`` comes first: if the connection is found to be lost then, another one is used.
        Waits for a turn of the principal ``who``, see ``DatabaseTurns``. Raises InsecureRole, Busy,
        and DatabaseUnavailable, also instead of a psycopg.Error that ``work`` raises.
        """
        since = time.monotonic()
        await self._turns.take(who, limits)
        use = _Use()
        task = self._start(self._work(work, begin, use, since))
        task.add_done_callback(lambda _: self._turns.give_back(who))
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
        async with await self._connect(timeout_s):
            pass

    async def close(self) -> None:
        """Closes the connections that are not in use; a later call opens others."""
        await self._idle.close()

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
        self,
        work: Callable[[Connection], Awaitable[_T]],
        begin: Callable[[Connection], Awaitable[None]],
        use: _Use,
        since: float,
    ) -> _T:
        is_second = False
        try:
            while True:
                async with (
                    self._idle.lend(since) as connection,
                    _settling(connection),
                    use.of(connection),
                ):
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
async def _settling(connection: Connection) -> AsyncIterator[None]:
    """Leaves no transaction open; closes a connection that is in the middle of a statement."""
    try:
        yield
    finally:
        states = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
        if connection.info.transaction_status in states:
            with suppress(psycopg.Error):
                await connection.rollback()
        if connection.info.transaction_status != TransactionStatus.IDLE:
            await connection.close()
