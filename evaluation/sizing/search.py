"""Finds the fewest engine replicas, then the fewest ingress replicas, that meet targets.

Engines first, because they are what costs. More replicas are assumed never to be worse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import fmean

from evaluation.sizing.inputs import Workload, draw_arrivals
from evaluation.sizing.simulation import Deployment, Prediction, simulate
from nl2sql.errors import SettingsError

# A simulation lasts at least as long, and has about as many questions.
_SHORTEST_S = 60.0
_FEWEST_QUESTIONS = 3_000
# Questions of the check whether an idle service meets the target.
_IDLE_QUESTIONS = 200
_MOST_ENGINES = 10_000


@dataclass(frozen=True, slots=True)
class Targets:
    """The 95th percentile of the latency in seconds, and the share of refused questions."""

    p95_s: float
    refused_share: float = 0.01

    def are_met(self, prediction: Prediction) -> bool:
        """True if both hold."""
        return (
            bool(prediction.latencies_s)
            and prediction.latency_s(95) <= self.p95_s
            and prediction.refused_share <= self.refused_share
        )


@dataclass(frozen=True, slots=True)
class Sizing:
    """A load, a deployment for it, and what it is predicted to do."""

    per_minute: float
    deployment: Deployment
    prediction: Prediction


def predict(
    per_minute: float,
    deployment: Deployment,
    workload: Workload,
    *,
    principals: int = 100,
    seed: int = 0,
) -> Sizing:
    """Simulates a load on one deployment for as long as the figures need.

    At least a minute and 3,000 questions. Where the load exceeds the capacity, the latency grows
    with the length of the simulation.
    """
    seconds = max(_SHORTEST_S, _FEWEST_QUESTIONS / per_minute * 60)
    arrivals = draw_arrivals(per_minute, seconds, seed)
    found = simulate(deployment, workload, arrivals, principals=principals, seed=seed)
    return Sizing(per_minute, deployment, found)


def find_smallest(
    per_minute: float,
    targets: Targets,
    deployment: Deployment,
    workload: Workload,
    *,
    principals: int = 100,
    seed: int = 0,
) -> Sizing:
    """The smallest deployment that meets the targets; the numbers of the given one are ignored.

    Raises SettingsError if even an idle service misses them.
    """
    _check_idle(targets, deployment, workload, seed)
    tried: dict[tuple[int, int], Sizing] = {}

    def meets(replicas: int, engines: int) -> bool:
        if (replicas, engines) not in tried:
            one = replace(deployment, replicas=replicas, engines=engines)
            tried[replicas, engines] = predict(
                per_minute, one, workload, principals=principals, seed=seed
            )
        return targets.are_met(tried[replicas, engines].prediction)

    cpu_s = per_minute / 60 * fmean(cost.cpu_s for cost in workload)
    fewest = max(1, math.ceil(cpu_s))
    ample = 2 * fewest + 2
    engines = _find_first(1, lambda count: meets(ample, count), _MOST_ENGINES)
    replicas = _find_first(fewest, lambda count: meets(count, engines), ample)
    return tried[replicas, engines]


def _find_first(low: int, holds: Callable[[int], bool], most: int) -> int:
    """The smallest number from ``low`` on for which ``holds``, which stays true after it.

    >>> _find_first(1, lambda number: number >= 37, 100)
    37
    """
    step, high = 1, low
    while not holds(high):
        low, high = high + 1, min(high + step, most)
        step *= 2
        if low > most:
            raise SettingsError(f"The targets cannot be met with {most} replicas.")
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _check_idle(targets: Targets, deployment: Deployment, workload: Workload, seed: int) -> None:
    one = replace(deployment, replicas=1, engines=1)
    slowest = simulate(one, workload, [0.0], seed=seed).latency_s(100)
    gap = 100 * max(1.0, slowest)
    arrivals = [number * gap for number in range(_IDLE_QUESTIONS)]
    idle_s = simulate(one, workload, arrivals, seed=seed).latency_s(95)
    if idle_s > targets.p95_s:
        raise SettingsError(
            f"One question at a time already has a p95 of {idle_s:.1f} s, "
            f"above the target of {targets.p95_s:g} s.",
            hint="Choose a faster engine, or a longer target.",
        )
