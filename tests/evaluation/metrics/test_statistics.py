"""The statistics, against values computed by hand, by brute force and by the plain method."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.figures import Estimate
from evaluation.metrics.statistics import estimate, mcnemar_exact, percentile


def test_no_value_is_no_estimate() -> None:
    assert estimate([]) == Estimate(0.0, 0.0, 0.0, 0)


def test_an_estimate_repeats_whatever_the_order_of_the_values() -> None:
    values = [0.0, 1.0, 1.0, 0.25, 0.5] * 20
    assert estimate(values) == estimate(values[::-1])
    assert estimate(values) != estimate(values, seed=1)


def test_a_share_has_the_interval_of_the_binomial_distribution() -> None:
    found = estimate([1.0] * 20 + [0.0] * 20)
    # The 2.5 % and 97.5 % quantiles of binomial(40, 1/2) are 14 and 26 (tables).
    assert found == Estimate(0.5, 14 / 40, 26 / 40, 40)


@pytest.mark.parametrize("spread", [1, 200], ids=["few distinct values", "many distinct values"])
def test_an_interval_is_that_of_plain_resampling(spread: int) -> None:
    random = np.random.default_rng(7)
    values = np.round(random.random(200) * spread) / spread
    means = [random.choice(values, size=len(values)).mean() for _ in range(10_000)]
    found = estimate(values.tolist())
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(np.percentile(means, 2.5), abs=0.005)
    assert found.high == pytest.approx(np.percentile(means, 97.5), abs=0.005)


def test_resamples_drawn_in_batches_are_all_there() -> None:
    # 2,500 distinct values: 800 resamples a batch, the last one short.
    values = [number / 2_500 for number in range(2_500)]
    found = estimate(values, resamples=2_000)
    # A mean of uniform values: the standard error is 1 / sqrt(12 n) = 0.00577.
    assert found.low == pytest.approx(0.4998 - 1.96 * 0.00577, abs=0.001)
    assert found.high == pytest.approx(0.4998 + 1.96 * 0.00577, abs=0.001)


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0.0, 0.2775), (1.0, 0.7225, 1.0)])
def test_all_wrong_and_all_right_keep_an_interval(share: float, low: float, high: float) -> None:
    found = estimate([share] * 10)
    assert (found.value, found.count) == (share, 10)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)
    assert found.low <= found.value <= found.high


def test_other_equal_values_are_a_point() -> None:
    assert estimate([0.1, 0.1, 0.1]) == Estimate(0.1, 0.1, 0.1, 3)


@pytest.mark.parametrize(
    ("gained", "lost", "expected"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (6, 0, 2 / 64),
        (0, 6, 2 / 64),
        (8, 2, 2 * (1 + 10 + 45) / 1024),
        (5, 5, 1.0),
    ],
)
def test_mcnemar_is_the_two_sided_sign_test(gained: int, lost: int, expected: float) -> None:
    assert mcnemar_exact(gained, lost) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([], 50, 0.0),
        ([3.0], 95, 3.0),
        ([1.0, 2.0, 3.0, 4.0], 50, 2.0),
        ([4.0, 1.0, 3.0, 2.0], 50, 2.0),
        ([1.0, 2.0, 3.0], 50, 2.0),
        ([float(n) for n in range(1, 21)], 95, 19.0),
        ([float(n) for n in range(1, 22)], 95, 20.0),
        ([1.0, 2.0], 0, 1.0),
        ([1.0, 2.0], 100, 2.0),
    ],
)
def test_a_percentile_is_the_nearest_rank(
    values: list[float], percent: float, expected: float
) -> None:
    assert percentile(values, percent) == expected
