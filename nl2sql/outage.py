"""Waits until a dependency that stopped answering during a long run is ready, and retries.

A dependency that never answered is not waited for: then the settings are wrong. A call that fails
although the dependency is ready is repeated a limited number of times.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nl2sql.errors import Unavailable

_LONGEST_S = 600.0
_PAUSE_S = 2.0
_ATTEMPTS = 3

_Answer = TypeVar("_Answer")


class Outage:
    """``probe`` returns the current problem, empty if there is none; ``say`` prints a line.

    Concurrent callers wait together, and only the first of them reports the outage.
    """

    def __init__(
        self,
        probe: Callable[[], Awaitable[str]],
        say: Callable[[str], None],
        *,
        longest_s: float = _LONGEST_S,
        pause_s: float = _PAUSE_S,
    ) -> None:
        self._probe = probe
        self._say = say
        self._longest_s = longest_s
        self._pause_s = pause_s
        self._has_answered = False
        self._waiting = asyncio.Lock()

    async def ask(self, call: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """Returns the result of ``call``, repeating it after an outage.

        Raises its Unavailable if no call has succeeded before, if it fails three times although
        the dependency was ready in between, or if that is not ready within ``longest_s``.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                answer = await call()
            except Unavailable as error:
                if not self._has_answered:
                    raise
                await self._wait(error)
            else:
                self._has_answered = True
                return answer
        return await call()

    async def _wait(self, error: Unavailable) -> None:
        async with self._waiting:
            start = time.monotonic()
            problem = await self._probe()
            if not problem:
                return
            self._say(
                f"{error.message} Waiting for it, for {self._longest_s / 60:.0f} minutes at most."
            )
            while problem:
                if time.monotonic() - start > self._longest_s:
                    raise error
                await asyncio.sleep(self._pause_s)
                problem = await self._probe()
            self._say(f"It is ready again after {time.monotonic() - start:.0f} s; the run goes on.")
