"""The statistics behind the figures: intervals, a paired test, percentiles.

Knows nothing of records. All random numbers are seeded, so figures are reproducible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from evaluation.metrics.figures import Estimate
from nl2sql.intervals import wilson_interval

# A two-sided 95 % interval.
_BOUNDS_PERCENT = (2.5, 97.5)
# Numbers drawn at once: 8 bytes each.
_MOST_DRAWN = 2_000_000
# One multinomial count takes as long as this many uniform indices (measured, numpy 2.3).
_COST_OF_A_COUNT = 20

_Numbers = npt.NDArray[Any]


def estimate(values: Sequence[float], *, seed: int = 0, resamples: int = 10_000) -> Estimate:
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
        means = _resample_means(distinct, repeats, np.random.default_rng(seed), resamples)
        low, high = (float(bound) for bound in np.percentile(means, _BOUNDS_PERCENT))
        return Estimate(mean, low, high, count)
    mean = float(distinct[0])
    if mean in (0.0, 1.0):
        low, high = wilson_interval(round(mean) * count, count)
        # Rounding can put the mean outside the bounds by one unit in the last place.
        return Estimate(mean, min(low, mean), max(high, mean), count)
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


def _resample_means(
    distinct: _Numbers, repeats: _Numbers, random: np.random.Generator, resamples: int
) -> _Numbers:
    """Means of samples drawn with replacement.

    The counts of the distinct values are multinomial. If there are few distinct values, such as
    right and wrong, only the counts are drawn: few numbers for each resample, however many
    questions there are.
    """
    count = int(repeats.sum())
    few = len(distinct) * _COST_OF_A_COUNT < count
    batch = max(1, _MOST_DRAWN // (len(distinct) if few else count))
    values = np.repeat(distinct, repeats)
    means = []
    for start in range(0, resamples, batch):
        size = min(batch, resamples - start)
        if few:
            means.append(random.multinomial(count, repeats / count, size=size) @ distinct / count)
        else:
            means.append(values[random.integers(count, size=(size, count))].mean(axis=1))
    return np.concatenate(means)
