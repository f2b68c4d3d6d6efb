"""Confidence intervals of shares, for the vote's confidence and for the evaluation."""

from __future__ import annotations

import math

# The 97.5 % quantile of the normal distribution: a two-sided 95 % interval.
_Z = 1.959964


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a share (Wilson, JASA 1927).

    >>> [round(bound, 3) for bound in wilson_interval(20, 40)]
    [0.352, 0.648]
    """
    if trials == 0:
        return 0.0, 1.0
    share, square = successes / trials, _Z * _Z
    centre = share + square / (2 * trials)
    spread = _Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    scale = 1 + square / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
