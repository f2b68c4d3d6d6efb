"""The statistics behind the figures: intervals, a paired test, percentiles.

Knows nothing of records. All random numbers are seeded, so figures are reproducible.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.stats import binomtest

from evaluation.metrics.figures import Estimate, Percentiles

# A two-sided 95 % interval.
_BOUNDS_PERCENT = (2.5, 97.5)
_RESAMPLES = 10_000


def estimate(values: Sequence[float], *, seed: int = 0) -> Estimate:
    """The mean with its 95 % percentile bootstrap interval (Efron & Tibshirani 1993, chapter 13).

    The values are resampled. If all are 0 or all are 1, the bootstrap interval would be a point, so
    the Wilson interval is used. Other values that are all equal give a point. The order of the
    values makes no difference.

    >>> estimate([0.0] * 10)  # the upper bound is z² / (n + z²) = 3.8415 / 13.8415
    Estimate(value=0.0, low=0.0, high=0.277..., count=10)
    >>> estimate([])
    Estimate(value=0.0, low=0.0, high=0.0, count=0)
    """
    if not values:
        return Estimate(0.0, 0.0, 0.0, 0)
    count = len(values)
    distinct, repeats = np.unique(np.asarray(values, dtype=float), return_counts=True)
    if len(distinct) > 1:
        mean = float(distinct @ repeats) / count
        # Of a sample drawn with replacement, the counts of the distinct values are multinomial.
        counts = np.random.default_rng(seed).multinomial(count, repeats / count, size=_RESAMPLES)
        means = counts @ distinct / count
        low, high = (float(bound) for bound in np.percentile(means, _BOUNDS_PERCENT))
        return Estimate(mean, low, high, count)
    mean = float(distinct[0])
    if mean in (0.0, 1.0):
        bounds = binomtest(round(mean) * count, count).proportion_ci(method="wilson")
        return Estimate(mean, float(bounds.low), float(bounds.high), count)
    return Estimate(mean, mean, mean, count)


def mcnemar_exact(gained: int, lost: int) -> float:
    """McNemar's exact two-sided p-value (McNemar 1947; the exact form is the sign test).

    If two systems were equally good, each would win half of the questions on which they differ:
    binomial with p = 1/2. Without such questions the p-value is 1.

    >>> mcnemar_exact(0, 5), mcnemar_exact(3, 3), mcnemar_exact(0, 0)  # 2 / 2**5
    (0.0625, 1.0, 1.0)
    """
    if gained + lost == 0:
        return 1.0
    return float(binomtest(gained, gained + lost, 0.5).pvalue)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value such that at least ``percent`` of all are at most that (nearest rank).

    >>> percentile([1.0, 2.0, 3.0, 4.0], 50), percentile([], 50)
    (2.0, 0.0)
    """
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def measure_percentiles(values: Sequence[float]) -> Percentiles:
    """Median and 95th percentile."""
    return Percentiles(percentile(values, 50), percentile(values, 95))


def measure_stages(questions: Iterable[Mapping[str, float]]) -> dict[str, Percentiles]:
    """Milliseconds of each stage over the questions in which it ran, in order of appearance."""
    stages: dict[str, list[float]] = defaultdict(list)
    for stages_ms in questions:
        for name, ms in stages_ms.items():
            stages[name].append(ms)
    return {name: measure_percentiles(values) for name, values in stages.items()}


def average(values: Sequence[float]) -> float:
    """The mean; 0 without values."""
    return sum(values) / len(values) if values else 0.0
