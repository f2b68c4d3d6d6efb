"""How far a job is, read from its files of results."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from serve_app.batch.job import Job


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """``rate`` is in questions a second, ``remaining_s`` in seconds; None: unknown."""

    total: int
    done: int
    outcomes: Mapping[str, int]
    rate: float | None
    remaining_s: float | None

    @property
    def is_complete(self) -> bool:
        """Whether every question has a row."""
        return self.done >= self.total

    def render(self) -> str:
        """One line for people."""
        parts = [f"{self.done:,} of {self.total:,}"]
        if self.rate is not None and not self.is_complete:
            parts.append(f"{self.rate:.2f} a second")
        if self.remaining_s is not None:
            parts.append(f"{timedelta(seconds=round(self.remaining_s))} left")
        counts = ", ".join(f"{count:,} {name}" for name, count in sorted(self.outcomes.items()))
        return " · ".join([*parts, *([counts] if counts else [])])


class ProgressReader:
    """Reads the progress of a job again and again; each file of results is read once."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._counts: dict[str, Counter[str]] = {}
        self._count()
        self._done_before = self._sum().total()
        self._start = time.monotonic()

    def read(self) -> BatchProgress:
        """The progress at this time; its rate is that since the reader was made."""
        self._count()
        outcomes = self._sum()
        done, total = outcomes.total(), self._job.stored.total
        rate = (done - self._done_before) / max(time.monotonic() - self._start, 0.001)
        left = (total - done) / rate if rate and done < total else None
        return BatchProgress(total, done, dict(outcomes), rate or None, left)

    def _count(self) -> None:
        for info in self._job.list_results():
            if info.path not in self._counts:
                rows = self._job.read_results(info, ["outcome"])
                self._counts[info.path] = Counter(row["outcome"] for row in rows)

    def _sum(self) -> Counter[str]:
        return sum(self._counts.values(), Counter())
