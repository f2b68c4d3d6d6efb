"""How far a job is, read from its files of results."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from serve_app.batch.job import Job

# The rate is that of the latest results.
_WINDOW_S = 300.0


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
        self._read: dict[str, tuple[datetime, Counter[str]]] = {}

    def read(self, now: datetime | None = None) -> BatchProgress:
        """The progress at this time."""
        for info in self._job.list_results():
            name = posixpath.basename(info.path)
            if name not in self._read:
                rows = self._job.read_results(info, ["outcome"])
                self._read[name] = info.mtime, Counter(row["outcome"] for row in rows)
        outcomes: Counter[str] = Counter()
        for _, counts in self._read.values():
            outcomes.update(counts)
        done, total = outcomes.total(), self._job.stored.total
        rate = _measure_rate(
            [(time, counts.total()) for time, counts in self._read.values()],
            now or datetime.now(UTC),
        )
        left = (total - done) / rate if rate and done < total else None
        return BatchProgress(total, done, dict(outcomes), rate, left)


def _measure_rate(files: Sequence[tuple[datetime, int]], now: datetime) -> float | None:
    """Questions a second since the first of the latest files; None without two files.

    The first file is only where the time begins: when its questions were begun is not known.
    """
    latest = sorted(entry for entry in files if (now - entry[0]).total_seconds() <= _WINDOW_S)
    if len(latest) < 2:
        return None
    seconds = (now - latest[0][0]).total_seconds()
    return sum(count for _, count in latest[1:]) / seconds if seconds > 0 else None
