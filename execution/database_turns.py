"""The queue of one database: how many statements run at a time, and whose is next.

A statement waits for its turn at most half of the time that its request has left, so that as much
remains for running it and for what follows.

On a database that computes on this machine, one principal gets at most as many turns as occupy half
of the processors, and at least one: another's statements find the other half idle.
"""

from __future__ import annotations

import asyncio
import os
import time

from nl2sql.deadline import read_left_s
from nl2sql.errors import Busy
from nl2sql.fair_turns import FairTurns
from nl2sql.types import ExecutionLimits

_SHORTEST_RETRY_S, _LONGEST_RETRY_S = 1.0, 30.0


class DatabaseTurns:
    """At most ``most`` statements of the database ``name`` at a time, fairly by principal.

    ``processors`` of this machine can work on one statement; 0: it computes elsewhere.
    """

    def __init__(self, name: str, most: int, *, processors: int) -> None:
        self._name = name
        present = len(os.sched_getaffinity(0))
        most_each = max(1, present // (2 * processors)) if processors else None
        self._turns = FairTurns(most, most_each=most_each)
        self.give_back = self._turns.give_back

    async def take(self, who: str, limits: ExecutionLimits | None = None) -> None:
        """Waits for a turn of the principal, who must give it back.

        With ``limits``, it waits at most twice as long as the statement may run, so that one which
        runs as long may end before. Raises Busy after that time, DeadlineExceeded if the request
        has no time left.
        """
        start = time.monotonic()
        left_s = read_left_s()
        longest_s = None if left_s is None else left_s / 2
        if limits is not None:
            longest_s = min(2 * limits.timeout_ms / 1000, longest_s or float("inf"))
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
