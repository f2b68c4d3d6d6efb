"""The queue of one database: how many statements run at a time, and whose is next.

A statement waits for its turn at most half of the time that its request has left, so that as much
remains for running it and for what follows.
"""

from __future__ import annotations

import asyncio
import time

from nl2sql.deadline import read_left_s
from nl2sql.errors import Busy
from nl2sql.fair_turns import FairTurns
from nl2sql.types import ExecutionLimits

_SHORTEST_RETRY_S, _LONGEST_RETRY_S = 1.0, 30.0


class DatabaseTurns:
    """At most ``most`` statements of the database ``name`` at a time, fairly by principal."""

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._turns = FairTurns(most)
        self.give_back = self._turns.give_back

    async def take(self, who: str, limits: ExecutionLimits | None = None) -> None:
        """Waits for a turn of the principal, who must give it back.

        With ``limits``, it waits no longer than the statement may run. Raises Busy after that time,
        DeadlineExceeded if the request has no time left.
        """
        start = time.monotonic()
        left_s = read_left_s()
        longest_s = None if left_s is None else left_s / 2
        if limits is not None:
            longest_s = min(limits.timeout_ms / 1000, longest_s or float("inf"))
        try:
            async with asyncio.timeout(longest_s):
                await self._turns.take(who)
        except TimeoutError as error:
            waited_s = time.monotonic() - start
            seconds = min(max(waited_s, _SHORTEST_RETRY_S), _LONGEST_RETRY_S)
            raise Busy(
                f"The database {self._name!r} is busy: the query could not begin within "
                f"{waited_s:.1f} seconds.",
                retry_after_s=seconds,
                hint=f"Try again in {seconds:.0f} seconds.",
            ) from error
