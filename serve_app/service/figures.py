"""The figures that ``/readyz`` and ``quorumsql status`` show: outcomes, duration, load.

They are those of one process, since it started.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Sequence

from quorumsql.contract.status import DurationResponse, FiguresResponse

# The percentiles are those of so many questions, the latest.
_RECENT = 100


class Figures:
    """Counts questions by outcome, and keeps how long the latest took."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._outcomes: Counter[str] = Counter()
        self._durations: deque[float] = deque(maxlen=_RECENT)
        self._waiting = 0
        self._ongoing = 0

    def count(self, outcome: str, ms: float | None) -> None:
        """Counts a question; ``ms`` is how long its answer took, None if there is no answer."""
        self._outcomes[outcome] += 1
        if ms is not None:
            self._durations.append(ms)

    def set_load(self, waiting: int, ongoing: int) -> None:
        """Requests that wait, and that are being answered."""
        self._waiting, self._ongoing = waiting, ongoing

    def read(self) -> FiguresResponse:
        """The figures now."""
        recent = sorted(self._durations)
        return FiguresResponse(
            uptime_s=round(time.monotonic() - self._started, 1),
            waiting=self._waiting,
            ongoing=self._ongoing,
            questions=dict(self._outcomes),
            duration=DurationResponse(
                questions=len(recent),
                p50_ms=find_percentile(recent, 50),
                p95_ms=find_percentile(recent, 95),
            ),
        )


def find_percentile(ordered: Sequence[float], percent: int) -> float | None:
    """The percentile by nearest rank; None without values.

    >>> find_percentile([1.0, 2.0, 3.0, 4.0], 50), find_percentile([1.0, 2.0], 95)
    (2.0, 2.0)
    """
    if not ordered:
        return None
    return round(ordered[math.ceil(len(ordered) * percent / 100) - 1], 1)
