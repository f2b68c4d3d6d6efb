"""The admission of one ingress replica, as ``serve_app/service/turns.py`` decides it.

The measuring of the load is the service's own (``serve_app/service/load.py``), passed in. Left out:
batch jobs, and the round robin between principals, who are called in the order of their arrival.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import Protocol

from evaluation.sizing.events import Action, Clock


class Load(Protocol):
    """See ``serve_app.service.load.Load``."""

    def measure(self, seconds: float, present: int) -> None:
        """A request took that long; so many were present when it came, itself included."""
        ...

    @property
    def most_present(self) -> float:
        """The most requests at a time within the slowdown."""
        ...

    def estimate_s(self, present: int) -> float:
        """The expected seconds of a request among so many; 0 if nothing was measured."""
        ...


class UnlimitedLoad:
    """Refuses nothing."""

    most_present = float("inf")

    def measure(self, seconds: float, present: int) -> None:
        """Ignored."""

    def estimate_s(self, present: int) -> float:
        """Always 0."""
        return 0.0


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """The settings ``serve.max_ongoing_requests`` and ``max_waiting_requests``.

    ``patience_s`` is ``limits.request_timeout_ms`` in seconds.
    """

    max_ongoing: int = 64
    max_waiting: int = 256
    patience_s: float = 1800.0


class Admission:
    """Admits or refuses questions, and lets a limited number of them proceed."""

    def __init__(self, clock: Clock, limits: AdmissionLimits, load: Load) -> None:
        self._clock = clock
        self._limits = limits
        self._load = load
        self._principals: Counter[int] = Counter()
        self._entered: dict[int, tuple[float, int]] = {}
        self._waiting: deque[Action] = deque()
        self._ongoing = 0
        self.present = 0

    def enter(self, question: int, principal: int) -> bool:
        """Admits a question of a principal until it leaves; False if it is refused."""
        if not self._accepts(principal):
            return False
        self._principals[principal] += 1
        self.present += 1
        self._entered[question] = (self._clock.now, self.present)
        return True

    def _accepts(self, principal: int) -> bool:
        limits, load, present = self._limits, self._load, self.present + 1
        if self._ongoing >= limits.max_ongoing and len(self._waiting) >= limits.max_waiting:
            return False
        if present > 1 and load.estimate_s(present) > limits.patience_s:
            return False
        bound = load.most_present
        share = max(1.0, bound / len({*self._principals, principal}))
        # A lookup would add the principal to the counter.
        own = self._principals.get(principal, 0) + 1
        return present <= bound or own <= share

    def proceed(self, action: Action) -> None:
        """Calls ``action`` when it is the turn of an admitted question."""
        if self._ongoing < self._limits.max_ongoing:
            self._ongoing += 1
            action()
        else:
            self._waiting.append(action)

    def leave(self, question: int, principal: int) -> None:
        """The question is answered."""
        entered, present = self._entered.pop(question)
        self._load.measure(self._clock.now - entered, present)
        self._principals[principal] -= 1
        if not self._principals[principal]:
            del self._principals[principal]
        self.present -= 1
        if self._waiting:
            self._waiting.popleft()()
        else:
            self._ongoing -= 1
