"""The figures that ``/readyz`` and ``quorumsql status`` show: outcomes, duration, load.

They are those of one process, since it started.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Sequence
from datetime import UTC, date, datetime

from quorumsql.contract.service_status import OutcomeResponse, TodayResponse
from quorumsql.contract.status import DurationResponse, FiguresResponse

# The percentiles are those of so many questions, the latest.
_RECENT = 100


class Figures:
    """Counts questions by outcome, and keeps how long the latest took."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._outcomes: Counter[str] = Counter()
        self._errors: Counter[tuple[str, str]] = Counter()
        self._day = _find_day()
        self._used = Counter[str]()
        self._durations: deque[float] = deque(maxlen=_RECENT)
        self._waiting = 0
        self._ongoing = 0

    def count(
        self, outcome: str, ms: float | None, *, code: str = "", tokens: int = 0, rows: int = 0
    ) -> None:
        """Counts a question; ``ms`` is how long its answer took, None if there is no answer.

        ``code`` says why there are no rows, ``tokens`` and ``rows`` what was used.
        """
        self._outcomes[outcome] += 1
        if outcome != "answered":
            self._errors[outcome, code] += 1
        self._begin_day()
        self._used.update(questions=1, tokens=tokens, rows=rows)
        if ms is not None:
            self._durations.append(ms)

    def set_load(self, waiting: int, ongoing: int) -> None:
        """Requests that wait, and that are being answered."""
        self._waiting, self._ongoing = waiting, ongoing

    def read_errors(self) -> list[OutcomeResponse]:
        """The questions without rows, by reason, the most frequent first."""
        return [
            OutcomeResponse(outcome=outcome, code=code, count=count)
            for (outcome, code), count in self._errors.most_common()
        ]

    def read_today(self) -> TodayResponse:
        """What was used on this day (UTC)."""
        self._begin_day()
        used = self._used
        return TodayResponse(questions=used["questions"], tokens=used["tokens"], rows=used["rows"])

    def _begin_day(self) -> None:
        if self._day != (today := _find_day()):
            self._day, self._used = today, Counter()

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


def _find_day() -> date:
    return datetime.now(UTC).date()


def find_percentile(ordered: Sequence[float], percent: int) -> float | None:
    """The percentile by nearest rank; None without values.

    >>> find_percentile([1.0, 2.0, 3.0, 4.0], 50), find_percentile([1.0, 2.0], 95)
    (2.0, 2.0)
    """
    if not ordered:
        return None
    return round(ordered[math.ceil(len(ordered) * percent / 100) - 1], 1)
