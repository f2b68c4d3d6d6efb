"""Admission: which requests a replica takes; those that wait take turns fairly.

A request is refused at once, with the time after which to try again, if too many are waiting, if it
would probably not be answered within its time limit, or if all answers would become too slow and
its principal already has its share of the replica.

The replica measures itself: how long a request takes while hardly any other is present, and how
long requests have taken lately, with how many present. Among N, a request is expected to take N/n
times as long as lately among n. Where an engine batches, that is too much; the measured times then
show no slowdown, and the bound rises.

It knows nothing of single requests: a long one counts as any other, and the averages follow the mix
of the last few dozen.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from nl2sql.errors import Busy
from nl2sql.fair_turns import FairTurns, find_share

_SHORTEST_RETRY_S = 1.0
# Later, whoever is refused may as well come when the load has changed.
_LONGEST_RETRY_S = 30.0

# As many at a time count as an idle replica.
_IDLE = 2
# As many are always admitted: among so few, the measured times say little.
_LEAST = 4
# Nobody minds an answer within this time, however fast an idle replica is.
_FAST_S = 0.5
# The share of the newest request in the averages.
_NEWEST = 0.05


class AdmissionController:
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
        self.turns = FairTurns(most, report)
        self._most_waiting = most_waiting
        self._load = Load(max_slowdown)
        self._last_retry = 0.0
        # Present requests of each principal: admitted, waiting or ongoing.
        self._present: Counter[str] = Counter()

    @contextmanager
    def admit(self, who: str, *, patience_s: float) -> Iterator[None]:
        """Admits a question of the principal ``who`` until the block ends, and measures it.

        The block waits for its turn where it begins to work: ``turns.hold``. Raises Busy if it
        should not come now, or would take longer than ``patience_s``.
        """
        self.check(who, patience_s=patience_s)
        self._present[who] += 1
        present = self._present.total()
        start = time.monotonic()
        try:
            yield
            self._load.measure(time.monotonic() - start, present)
        finally:
            self._leave(who)

    def check(self, who: str, *, patience_s: float) -> None:
        """Raises what ``admit`` raises."""
        present = self._present.total() + 1
        self._check_waiting(who, present)
        self._check_load(who, present, patience_s)

    @asynccontextmanager
    async def take(self, who: str = "") -> AsyncIterator[None]:
        """A turn for other work than a question, until the block ends. Raises Busy."""
        self._check_waiting(who, self._present.total() + 1)
        self._present[who] += 1
        try:
            async with self.turns.hold(who):
                yield
        finally:
            self._leave(who)

    def _check_waiting(self, who: str, present: int) -> None:
        turns, most = self.turns, self._most_waiting
        is_full = turns.waiting >= most or turns.count_waiting(who) >= find_share(most)
        if is_full and not turns.may_take(who):
            raise self._refuse("Too many requests are waiting already.", present)

    def _check_load(self, who: str, present: int, patience_s: float) -> None:
        expected_s = self._load.estimate_s(present)
        if present > 1 and expected_s > patience_s:
            reason = f"An answer would take about {expected_s:.0f} seconds now."
            raise self._refuse(reason, present)
        bound = self._load.most_present
        share = max(1.0, bound / len({*self._present, who}))
        if present > bound and self._present[who] + 1 > share:
            raise self._refuse("The service is busy.", present)

    def _refuse(self, reason: str, present: int) -> Busy:
        """The error, with an estimate of the time until few enough requests are present.

        The times of successive refusals are as far apart as answers are: if all callers came back
        at once, refusing them again would take the time in which others are answered.
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

    def _leave(self, who: str) -> None:
        self._present[who] -= 1
        if not self._present[who]:
            del self._present[who]


class Load:
    """Measures finished requests, and bounds the number of present ones.

    ``max_slowdown`` is how many times as long as in an idle replica a request may take; it may
    always take half a second.
    """

    def __init__(self, max_slowdown: float) -> None:
        self._max_slowdown = max_slowdown
        self._idle_s = 0.0
        self._recent_s = 0.0
        self._recent_present = 0.0

    def measure(self, seconds: float, present: int) -> None:
        """A request has taken that long; ``present`` were there when it came, itself included."""
        if present <= _IDLE:
            self._idle_s = _average(self._idle_s, seconds)
        self._recent_s = _average(self._recent_s, seconds)
        self._recent_present = _average(self._recent_present, present)

    @property
    def most_present(self) -> float:
        """The most requests at a time within the slowdown; infinite if that is not known yet."""
        if not self._idle_s:
            return float("inf")
        slowest_s = max(_FAST_S, self._max_slowdown * self._idle_s)
        bound = slowest_s * self._recent_present / self._recent_s
        return max(float(_LEAST), bound)

    @property
    def between_answers_s(self) -> float:
        """The time from one answer to the next lately; 0 if nothing was measured."""
        return self._recent_s / self._recent_present if self._recent_present else 0.0

    def estimate_s(self, present: int) -> float:
        """The expected time of a request among so many; 0 if nothing was measured."""
        if not self._recent_s:
            return 0.0
        return self._recent_s * max(1.0, present / self._recent_present)


def _average(average: float, newest: float) -> float:
    return newest if not average else average + _NEWEST * (newest - average)
