"""Keeps one process of OpenVINO running: restarts it if it dies or hangs.

Checks every second whether the process runs, and every few seconds its health. A process that three
times in a row does not answer and uses no processor time hangs: it is killed, which closes the
connections of waiting calls, and another one is started. A failed start is repeated with growing
pauses; meanwhile callers get its error.

Not covered: a process that uses processor time but never answers.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress

from generation.engines.openvino_server import EngineDied, OpenVinoServer
from nl2sql.errors import EngineUnavailable

_LOG = logging.getLogger("quorumsql")
_CHECK_S = 1.0
_HEALTH_CHECK_S = 3.0
_HEALTH_TIMEOUT_S = 5.0
_MOST_MISSED = 3
_LONGEST_PAUSE_S = 60.0


class OpenVinoSupervisor:
    """Runs servers by ``start``, which blocks until the server is ready.

    The first server is started at once, the watch by the first call from an event loop.
    """

    def __init__(self, start: Callable[[], OpenVinoServer]) -> None:
        """Raises what ``start`` raises."""
        self._start = start
        self._server = start()
        self._starting: asyncio.Task[None] | None = None
        self._is_closed = False
        self._watch: asyncio.Task[None] | None = None
        self._error: EngineUnavailable | None = None
        self._missed = 0
        self._heard = time.monotonic()

    @property
    def server(self) -> OpenVinoServer:
        """The last server that was started; it may have died."""
        return self._server

    async def find(self) -> OpenVinoServer:
        """The running server; waits while one is starting. Raises EngineUnavailable."""
        self._begin_watch()
        if not self._server.is_running:
            await self._restart()
        return self._server

    def describe_problem(self) -> str:
        """The engine's present problem, empty if there is none; does not wait."""
        self._begin_watch()
        if self._server.is_running:
            return "The engine does not answer." if self._missed else ""
        return str(self._error) if self._error else "The engine has died and is restarted."

    async def close(self) -> None:
        """Ends the watch and the process, also one that is starting."""
        self._is_closed = True
        if self._watch is not None:
            self._watch.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch
        if self._starting is not None:
            await asyncio.wait((self._starting,))
        await self._server.disconnect()
        await asyncio.to_thread(self._server.stop)

    async def _restart(self) -> None:
        """One start at a time, which goes on if whoever waits for it leaves."""
        if self._is_closed:
            raise EngineUnavailable("The engine has been closed.")
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._replace())
        await asyncio.shield(self._starting)

    async def _replace(self) -> None:
        dead = self._server
        await dead.disconnect()
        try:
            self._server = await asyncio.to_thread(self._start)
        except EngineUnavailable as error:
            self._error = error
            raise
        except OSError as error:
            # Such as no memory for a process or no room for its log, which may pass too.
            self._error = EngineUnavailable(f"The engine does not start: {error}.")
            raise self._error from error
        self._error = None
        with suppress(OSError):
            await asyncio.to_thread(dead.stop)

    def _begin_watch(self) -> None:
        if self._watch is None:
            self._watch = asyncio.create_task(self._keep_running())

    async def _keep_running(self) -> None:
        pause = _CHECK_S
        while True:
            await asyncio.sleep(pause)
            try:
                await self._check()
                pause = _CHECK_S
            except Exception as error:  # the watch ends with the supervisor only
                _LOG.warning("The engine is watched on: %s", error)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    async def _check(self) -> None:
        """Restarts a server that has died; kills one that hangs, so that the next check does."""
        if not self._server.is_running:
            await self._restart()
        elif time.monotonic() - self._heard >= _HEALTH_CHECK_S:
            if await _is_healthy(self._server):
                self._missed, self._heard = 0, time.monotonic()
                return
            self._missed += 1
            if self._missed == _MOST_MISSED:
                self._missed = 0
                await asyncio.to_thread(self._server.kill)


async def _is_healthy(server: OpenVinoServer) -> bool:
    """Whether it answers or, as the machine may be busy, has used processor time meanwhile."""
    cpu_s = server.cpu_s
    try:
        # Unlike wait_for, this does not swallow the end of the watch at the same moment.
        async with asyncio.timeout(_HEALTH_TIMEOUT_S):
            await server.count_running()
    except (EngineDied, OSError, TimeoutError):
        return server.cpu_s > cpu_s or not server.is_running
    return True
