"""A limited number of turns that principals share fairly.

Those who wait are called principal by principal, so that one with many requests does not hold up
another with one. A quarter of the turns is never given to one principal
alone, so that another need not wait for its requests to end. For use in one event loop.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


def find_share(most: int) -> int:
    """How many of ``most`` places one principal may have: three quarters, but not the last one.

    >>> [find_share(most) for most in (0, 1, 2, 3, 4, 8, 64)]
    [0, 1, 1, 2, 3, 6, 48]
    """
    return most if most < 2 else most - max(1, most // 4)


class FairTurns:
    """Gives ``most`` turns at a time, to one principal at most its share and ``most_each``.

    ``report`` is called with the numbers of waiting and held turns whenever they change.
    """

    def __init__(
        self,
        most: int,
        report: Callable[[int, int], None] = lambda waiting, held: None,
        *,
        most_each: int | None = None,
    ) -> None:
        self._most = most
        self._share = min(find_share(most), most_each or most)
        self._report = report
        self._held: Counter[str] = Counter()
        # Those who wait, by principal, in the order in which these are called.
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}
        self._idle = asyncio.Event()
        self._idle.set()
        self._busy = asyncio.Event()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(map(len, self._lines.values()))

    def count_waiting(self, who: str) -> int:
        """How many of that principal wait."""
        return len(self._lines.get(who, ()))

    def may_take(self, who: str) -> bool:
        """Whether the principal would get a turn at once."""
        return self._held.total() < self._most and self._held[who] < self._share

    async def wait_until_idle(self) -> None:
        """Waits until nobody has a turn."""
        await self._idle.wait()

    async def wait_until_busy(self) -> None:
        """Waits until somebody has a turn."""
        await self._busy.wait()

    @asynccontextmanager
    async def hold(self, who: str) -> AsyncIterator[None]:
        """Waits for a turn and holds it until the block ends."""
        await self.take(who)
        try:
            yield
        finally:
            self.give_back(who)

    async def take(self, who: str) -> None:
        """Waits for a turn of the principal, who must give it back."""
        turn = asyncio.get_running_loop().create_future()
        self._lines.setdefault(who, deque()).append(turn)
        self._call()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(who, turn)
                self._report(self.waiting, self._held.total())
            else:
                # It was called at the same moment.
                self.give_back(who)
            raise

    def give_back(self, who: str) -> None:
        """Ends a turn of the principal; those who may begin now are called."""
        self._held[who] -= 1
        if not self._held[who]:
            del self._held[who]
        self._call()
        if not self._held:
            self._idle.set()
            self._busy.clear()

    def _call(self) -> None:
        """Gives turns to all who may take one, principal by principal."""
        while (found := self._find_next()) is not None:
            who, turn = found
            self._leave(who, turn)
            if who in self._lines:
                self._lines[who] = self._lines.pop(who)
            self._held[who] += 1
            self._idle.clear()
            self._busy.set()
            turn.set_result(None)
        self._report(self.waiting, self._held.total())

    def _find_next(self) -> tuple[str, asyncio.Future[None]] | None:
        # Those who are cancelled leave by themselves, a moment later.
        able = (
            (who, turn)
            for who, line in self._lines.items()
            if self.may_take(who)
            for turn in line
            if not turn.cancelled()
        )
        return next(able, None)

    def _leave(self, who: str, turn: asyncio.Future[None]) -> None:
        self._lines[who].remove(turn)
        if not self._lines[who]:
            del self._lines[who]
