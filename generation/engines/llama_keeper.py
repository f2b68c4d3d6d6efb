"""Keeps one llama.cpp server running: sees that it died or hangs, and starts it again.

Every second it looks whether the process lives, and every few seconds it asks for a sign of life.
A process that gives none three times in a row, and does nothing meanwhile, hangs; it is killed,
which breaks the connections of those who wait for it, and another one is started. A start that
fails is tried again, with growing pauses; until then its error is what callers get.

Not covered: a process that works for ever and answers nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

import httpx

from generation.engines.llama_server import LlamaServer
from nl2sql.errors import EngineUnavailable

_LOOK_S = 1.0
_SIGN_S = 3.0
_SIGN_TIMEOUT_S = 5.0
_MISSED_SIGNS = 3
_LONGEST_PAUSE_S = 60.0


class LlamaKeeper:
    """``start`` starts a server and blocks until it is ready; the first one starts at once.

    The watch begins with the first call from an event loop, and belongs to it.
    """

    def __init__(self, start: Callable[[], LlamaServer]) -> None:
        """Raises what ``start`` raises."""
        self._start = start
        self._server = start()
        self._starting = asyncio.Lock()
        self._watch: asyncio.Task[None] | None = None
        self._error: EngineUnavailable | None = None
        self._missed_signs = 0

    @property
    def server(self) -> LlamaServer:
        """The last server that was started, dead or alive."""
        return self._server

    async def find(self) -> LlamaServer:
        """The running server; waits where one is being started. Raises EngineUnavailable."""
        self._begin_watch()
        if not self._server.is_running:
            await self._restart()
        return self._server

    def describe_problem(self) -> str:
        """What is wrong with the engine now, empty where all is well; waits for nothing."""
        self._begin_watch()
        if self._server.is_running:
            return "The engine gives no sign of life." if self._missed_signs else ""
        return str(self._error) if self._error else "The engine has died and is started again."

    async def close(self) -> None:
        """Ends the watch and the process."""
        if self._watch is not None:
            self._watch.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch
        await self._server.client.aclose()
        await asyncio.to_thread(self._server.stop)

    async def _restart(self) -> None:
        async with self._starting:
            if self._server.is_running:
                return
            dead = self._server
            await dead.client.aclose()
            try:
                self._server = await asyncio.to_thread(self._start)
            except EngineUnavailable as error:
                self._error = error
                raise
            self._error = None
            await asyncio.to_thread(dead.stop)

    def _begin_watch(self) -> None:
        if self._watch is None:
            self._watch = asyncio.create_task(self._keep_running())

    async def _keep_running(self) -> None:
        pause, heard = _LOOK_S, time.monotonic()
        while True:
            await asyncio.sleep(pause)
            if not self._server.is_running:
                try:
                    await self._restart()
                    pause = _LOOK_S
                except EngineUnavailable:
                    pause = min(2 * pause, _LONGEST_PAUSE_S)
            elif time.monotonic() - heard >= _SIGN_S:
                if await _gives_sign(self._server):
                    self._missed_signs, heard = 0, time.monotonic()
                    continue
                self._missed_signs += 1
                if self._missed_signs == _MISSED_SIGNS:
                    self._missed_signs = 0
                    await asyncio.to_thread(self._server.kill)


async def _gives_sign(server: LlamaServer) -> bool:
    """An answer; or, where many programs share few cores, work that goes on meanwhile."""
    cpu_s = server.cpu_s
    try:
        answer = await server.client.get("/health", timeout=_SIGN_TIMEOUT_S)
    except (httpx.HTTPError, RuntimeError):  # or its client was closed meanwhile
        return server.cpu_s > cpu_s or not server.is_running
    return answer.is_success
