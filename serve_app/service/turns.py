"""Admission: which requests a replica takes, and which of them is answered next.

A request is refused at once, with the time after which to try again, if too many are waiting, if it
would probably not be answered within its time limit, or if all answers would become too slow and
its principal already has its share of the replica. Those who wait take turns by principal, so that
one with many requests does not hold up another with one. Batch jobs wait for people.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from nl2sql.errors import Busy
from serve_app.service.load import Load

# Batch jobs get at most this part of a replica.
_BATCH_PART = 0.5
_SHORTEST_RETRY_S = 1.0
# Later, whoever is refused may as well come when the load has changed.
_LONGEST_RETRY_S = 30.0


class Turns:
    """Admits ``most`` requests at a time; ``most_waiting`` more may wait.

    ``report`` is called with the numbers of waiting and ongoing requests whenever they change;
    ``max_slowdown`` is that of ``Load``.
    """

    def __init__(
        self,
        most: int,
        most_waiting: int,
        report: Callable[[int, int], None] = lambda waiting, ongoing: None,
        *,
        max_slowdown: float = float("inf"),
    ) -> None:
        self._most = most
        self._most_waiting = most_waiting
        self._report = report
        self._load = Load(max_slowdown)
        self._last_retry = 0.0
        self._ongoing = 0
        # Present requests of each principal: admitted, waiting or ongoing.
        self._present: Counter[str] = Counter()
        self._people, self._batch = _Line(), _Line()
        self._idle = asyncio.Event()
        self._idle.set()
        self._busy = asyncio.Event()

    async def wait_until_idle(self) -> None:
        """Waits until no request is being answered."""
        await self._idle.wait()

    async def wait_until_busy(self) -> None:
        """Waits until a request is being answered."""
        await self._busy.wait()

    @contextmanager
    def enter(self, who: str, *, patience_s: float, is_batch: bool = False) -> Iterator[Place]:
        """Admits a question of the principal ``who`` until the block ends, and measures it.

        Raises Busy if it should not come now, or would take longer than ``patience_s``.
        """
        self.check(who, patience_s=patience_s, is_batch=is_batch)
        self._present[who] += 1
        present = self._present.total()
        start = time.monotonic()
        try:
            yield Place(self, who, is_batch)
            self._load.measure(time.monotonic() - start, present)
        finally:
            self._leave(who)

    def check(self, who: str, *, patience_s: float, is_batch: bool = False) -> None:
        """Raises what ``enter`` raises."""
        present = self._present.total() + 1
        self._check_waiting(present)
        self._check_load(who, present, patience_s, is_batch=is_batch)

    @asynccontextmanager
    async def take(self, who: str = "") -> AsyncIterator[None]:
        """A turn for other work than a question, until the block ends. Raises Busy."""
        self._check_waiting(self._present.total() + 1)
        self._present[who] += 1
        try:
            async with self.hold(who, is_batch=False):
                yield
        finally:
            self._leave(who)

    @asynccontextmanager
    async def hold(self, who: str, *, is_batch: bool) -> AsyncIterator[None]:
        """Waits for a turn and holds it until the block ends; see ``Place.turn``."""
        if self._ongoing >= self._most:
            await self._wait(who, self._batch if is_batch else self._people)
        else:
            self._ongoing += 1
        self._tell()
        self._idle.clear()
        self._busy.set()
        try:
            yield
        finally:
            self._pass_on()

    def _check_waiting(self, present: int) -> None:
        if self._ongoing >= self._most and self._waiting >= self._most_waiting:
            reason = "Too many requests are waiting already."
            raise self._refuse(reason, present)

    def _check_load(self, who: str, present: int, patience_s: float, *, is_batch: bool) -> None:
        expected_s = self._load.estimate_s(present)
        if present > 1 and expected_s > patience_s:
            reason = f"An answer would take about {expected_s:.0f} seconds now."
            raise self._refuse(reason, present)
        bound = self._load.most_present * (_BATCH_PART if is_batch else 1.0)
        share = max(1.0, bound / len({*self._present, who}))
        if present > bound and self._present[who] + 1 > share:
            raise self._refuse("The service is busy.", present)

    def _refuse(self, reason: str, present: int) -> Busy:
        """The error, with about the time when the present requests will have become few enough.

        Those who are refused one after the other are told times so far apart as answers are: if all
        came back at once, refusing them again would take the time in which others are answered.
        """
        excess = max(1.0, present - self._load.most_present)
        soonest_s = max(_SHORTEST_RETRY_S, self._load.estimate_s(present) * excess / present)
        now = time.monotonic()
        latest = now + max(_LONGEST_RETRY_S, soonest_s)
        self._last_retry = min(
            max(self._last_retry + self._load.between_answers_s, now + soonest_s), latest
        )
        seconds = self._last_retry - now
        return Busy(reason, retry_after_s=seconds, hint=f"Try again in {seconds:.0f} seconds.")

    @property
    def _waiting(self) -> int:
        return len(self._people) + len(self._batch)

    async def _wait(self, who: str, line: _Line) -> None:
        turn = line.join(who)
        self._tell()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                line.leave(who, turn)
                self._tell()
            else:
                # It was called at the same moment.
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Gives a turn that ends to the next in line."""
        if not (self._people.call() or self._batch.call()):
            self._ongoing -= 1
            if not self._ongoing:
                self._idle.set()
                self._busy.clear()
        self._tell()

    def _leave(self, who: str) -> None:
        self._present[who] -= 1
        if not self._present[who]:
            del self._present[who]

    def _tell(self) -> None:
        self._report(self._waiting, self._ongoing)


@dataclass(frozen=True, slots=True)
class Place:
    """An admitted question."""

    turns: Turns
    who: str
    is_batch: bool

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits for a turn and holds it until the block ends."""
        async with self.turns.hold(self.who, is_batch=self.is_batch):
            yield


class _Line:
    """Those who wait, by principal; principals are called in turn."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def join(self, who: str) -> asyncio.Future[None]:
        """A future that is done when it is the turn of this one."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(turn)
        self._length += 1
        return turn

    def leave(self, who: str, turn: asyncio.Future[None]) -> None:
        """No longer waits."""
        line = self._waiting[who]
        line.remove(turn)
        self._length -= 1
        if not line:
            del self._waiting[who]

    def call(self) -> bool:
        """Calls the next one; False if nobody waits."""
        for who, line in self._waiting.items():
            # Those who are cancelled leave by themselves, a moment later.
            turn = next((turn for turn in line if not turn.cancelled()), None)
            if turn is None:
                continue
            self.leave(who, turn)
            if who in self._waiting:
                self._waiting.move_to_end(who)
            turn.set_result(None)
            return True
        return False
