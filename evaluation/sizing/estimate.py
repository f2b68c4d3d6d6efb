"""Estimates the latency of a deployment by a formula for each part of a question's way.

Questions come as a Poisson process and are divided evenly among the replicas. An ingress replica is
one core that its questions share equally: a question with work ``s`` stays ``s / (1 - load)``
(M/G/1 with processor sharing). An engine reads one prompt after another, and meanwhile no answer
grows; the number of sequences that it writes follows from Little's law with the time of a step,
which depends on that number. The database is a constant wait.

Delays are taken to be exponential, the number of requests at an engine a Poisson number; both take
their values at the same hundred levels, so that an estimate needs no random numbers. Adding a bad
moment of each part makes high percentiles too long rather than too short.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist, fmean

from evaluation.metrics.statistics import percentile
from evaluation.sizing.inputs import EngineProfile, Workload
from nl2sql.errors import SettingsError

_LEVELS = tuple((at + 0.5) / 100 for at in range(100))
_ROUNDS = 200
_MOST_REPLICAS = 10_000
_IDLE_PER_MINUTE = 1e-3


@dataclass(frozen=True, slots=True)
class Estimate:
    """A load, the numbers of replicas, and what is estimated of them.

    ``cpu_share`` and ``engine_share`` are the parts of a replica's capacity that the load takes,
    ``batch`` is the mean number of sequences that an engine writes. ``latencies_s`` is empty where
    the load exceeds the capacity: then more is refused the longer it lasts.
    """

    per_minute: float
    replicas: int
    engines: int
    cpu_share: float
    engine_share: float
    batch: float = 0.0
    latencies_s: tuple[float, ...] = ()

    def latency_s(self, percent: float) -> float:
        """A percentile of the latencies; 0 beyond the capacity."""
        return percentile(self.latencies_s, percent)

    def meets(self, p95_s: float) -> bool:
        """True if the load can be borne, with that 95th percentile or less."""
        return bool(self.latencies_s) and self.latency_s(95) <= p95_s


def predict(
    per_minute: float, replicas: int, engines: int, profile: EngineProfile, workload: Workload
) -> Estimate:
    """The estimate for one deployment."""
    rate = per_minute / 60
    engine_rate = rate / engines
    read_s = fmean(_read_s(cost.prompt_tokens, profile) for cost in workload)
    tokens = fmean(cost.k * cost.answer_tokens for cost in workload)
    k = fmean(cost.k for cost in workload)
    room = fmean(cost.prompt_tokens + cost.k * cost.answer_tokens for cost in workload) / k
    most = max(k, min(profile.max_sequences, profile.kv_tokens / room))
    cpu_s = fmean(cost.cpu_s for cost in workload)
    cpu_share = rate / replicas * cpu_s
    engine_share = engine_rate * (read_s + tokens * profile.step_s(most) / most)
    if max(cpu_share, engine_share) >= 1:
        return Estimate(per_minute, replicas, engines, cpu_share, engine_share)
    reading = engine_rate * read_s
    batch = 0.0
    for _ in range(_ROUNDS):  # grows to the number with which as many are written as come
        batch = min(most, engine_rate * tokens * profile.step_s(batch) / (1 - reading))
    latencies_s = []
    for level in _LEVELS:
        wait_s = _find_delay(level, cpu_share, cpu_s) + _find_delay(level, reading, read_s)
        others = max(0.0, batch + NormalDist().inv_cdf(level) * math.sqrt(batch * k))
        latencies_s += [
            wait_s
            + cost.cpu_s
            + _read_s(cost.prompt_tokens, profile)
            + cost.answer_tokens * profile.step_s(others + cost.k) / (1 - reading)
            + cost.database_s
            for cost in workload
        ]
    return Estimate(
        per_minute, replicas, engines, cpu_share, engine_share, batch, tuple(latencies_s)
    )


def find_smallest(
    per_minute: float, p95_s: float, profile: EngineProfile, workload: Workload
) -> Estimate:
    """The fewest engines, then the fewest ingress replicas, that meet the target.

    Engines first, because they are what costs. Raises SettingsError if no number meets the target.
    """

    idle = predict(_IDLE_PER_MINUTE, 1, 1, profile, workload)
    if not idle.meets(p95_s):
        raise SettingsError(
            f"One question at a time already has a p95 of {idle.latency_s(95):.1f} s, above the "
            f"target of {p95_s:g} s.",
            hint="Choose a faster engine, or a longer target.",
        )

    def meets(replicas: int, engines: int) -> bool:
        return predict(per_minute, replicas, engines, profile, workload).meets(p95_s)

    engines = _find_first(lambda count: meets(_MOST_REPLICAS, count))
    replicas = _find_first(lambda count: meets(count, engines))
    return predict(per_minute, replicas, engines, profile, workload)


def _find_first(holds: Callable[[int], bool]) -> int:
    """The smallest number for which ``holds``, which stays true after it.

    Raises SettingsError if there is none up to ``_MOST_REPLICAS``.

    >>> _find_first(lambda number: number >= 37)
    37
    """
    low, high = 1, _MOST_REPLICAS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    if not holds(low):
        raise SettingsError(f"The target cannot be met with {_MOST_REPLICAS:,} replicas.")
    return low


def _read_s(prompt_tokens: int, profile: EngineProfile) -> float:
    return prompt_tokens * (1 - profile.cached_share) / profile.prompt_tokens_per_s


def _find_delay(level: float, load: float, service_s: float) -> float:
    """The delay that a share ``level`` of all stays below, in an M/M/1 queue.

    >>> _find_delay(0.3, 0.5, 1.0), round(_find_delay(0.75, 0.5, 1.0), 3)
    (0.0, 1.386)
    """
    if level <= 1 - load:
        return 0.0
    return service_s / (1 - load) * math.log(load / (1 - level))
