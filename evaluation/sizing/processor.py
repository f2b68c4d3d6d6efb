"""The processor of one ingress replica: one core, shared equally by all questions (the GIL)."""

from __future__ import annotations

import heapq
import itertools

from evaluation.sizing.events import Action, Clock, Event


class SharedProcessor:
    """Egalitarian processor sharing: among n jobs, each progresses at 1/n of the core's speed.

    ``busy_s`` are the seconds of work done so far, without the running job's latest part.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Work done on each present job since the start; a job ends at a value of it.
        self._progress = 0.0
        self._updated = 0.0
        self._jobs: list[tuple[float, int, Action]] = []
        self._orders = itertools.count()
        self._next: Event | None = None
        self.busy_s = 0.0

    def run(self, seconds: float, done: Action) -> None:
        """Calls ``done`` when the job has had that much processor time."""
        self._advance()
        heapq.heappush(self._jobs, (self._progress + seconds, next(self._orders), done))
        self._plan()

    def _advance(self) -> None:
        elapsed = self._clock.now - self._updated
        self._updated = self._clock.now
        if self._jobs:
            self._progress += elapsed / len(self._jobs)
            self.busy_s += elapsed

    def _plan(self) -> None:
        if self._next:
            self._next.cancel()
            self._next = None
        if self._jobs:
            left = max(0.0, self._jobs[0][0] - self._progress)
            self._next = self._clock.schedule(left * len(self._jobs), self._finish)

    def _finish(self) -> None:
        self._advance()
        end, _, done = heapq.heappop(self._jobs)
        self._progress = max(self._progress, end)
        self._next = None
        self._plan()
        done()
