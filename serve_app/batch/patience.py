"""Repeats a call to something that is unavailable or limits its callers, a few times."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from nl2sql.errors import LimitReached, Unavailable

# Five minutes in all: enough for a database or a service to be restarted.
PAUSES_S = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 80.0)
_LONGEST_PAUSE_S = 120.0

_Answer = TypeVar("_Answer")


class Patience:
    """Waits between the attempts at a call. Concurrent callers wait at the same time."""

    def __init__(self, pauses_s: Sequence[float] = PAUSES_S) -> None:
        self._pauses_s = tuple(pauses_s)
        self._given_up: set[str] = set()

    async def ask(self, name: str, call: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """Returns the result of ``call``, which depends on ``name``.

        Raises its last Unavailable or LimitReached. While calls that depend on ``name`` fail after
        all attempts, the next ones get a single attempt, until one succeeds.
        """
        for pause_s in (*self._pauses_s, None):
            try:
                answer = await call()
            except (LimitReached, Unavailable) as error:
                if pause_s is None:
                    self._given_up.add(name)
                if name in self._given_up or pause_s is None:
                    raise
                asked_s = error.retry_after_s if isinstance(error, LimitReached) else 0.0
                await asyncio.sleep(min(max(asked_s, pause_s), _LONGEST_PAUSE_S))
            else:
                self._given_up.discard(name)
                return answer
        raise AssertionError("the last attempt returns or raises")
