"""How many requests a replica can have at a time before each takes too long.

The replica measures itself: how long a request takes while hardly any other is present, and how
long requests have taken lately, with how many present. Among N, a request is expected to take N/n
times as long as lately among n. Where an engine batches, that is too much; the measured times then
show no slowdown, and the bound rises.

It knows nothing of single requests: a long one counts as any other, and the averages follow the mix
of the last few dozen.
"""

from __future__ import annotations

# As many at a time count as an idle replica.
_IDLE = 2
# As many are always admitted: among so few, the measured times say little.
_LEAST = 4
# Nobody minds an answer within this time, however fast an idle replica is.
_FAST_S = 0.5
# The share of the newest request in the averages.
_NEWEST = 0.05


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
