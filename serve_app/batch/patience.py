"""Repeats calls: to what is busy until it is not, to what is unavailable a few times."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from nl2sql.errors import Busy, LimitReached, Unavailable

# Five minutes in all: enough for a database or a service to be restarted.
PAUSES_S = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 80.0)
# A service that is busy says when to come again. Nobody waits for the limits of a day.
_LONGEST_PAUSE_S = 900.0

_SHORTEST_PAUSE_S = 0.1

_Answer = TypeVar("_Answer")


class Patience:
    """Waits between the attempts at a call. Concurrent callers wait at the same time."""

    def __init__(self, pauses_s: Sequence[float] = PAUSES_S) -> None:
        self._pauses_s = tuple(pauses_s)
        self._given_up: set[str] = set()

    async def ask(self, name: str, call: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """Returns the result of ``call``, which depends on ``name``.

        Raises its last Unavailable; LimitReached if its limit lasts longer than a quarter of an
        hour. While calls that depend on ``name`` fail after all attempts, the next ones get a
        single attempt, until one succeeds.
        """
        pauses_s = iter(self._pauses_s)
        while True:
            try:
                answer = await call()
            except (Busy, LimitReached) as error:
                if error.retry_after_s > _LONGEST_PAUSE_S:
                    raise
                await asyncio.sleep(max(error.retry_after_s, _SHORTEST_PAUSE_S))
            except Unavailable:
                pause_s = next(pauses_s, None)
                if pause_s is None:
                    self._given_up.add(name)
                if pause_s is None or name in self._given_up:
                    raise
                await asyncio.sleep(pause_s)
            else:
                self._given_up.discard(name)
                return answer
