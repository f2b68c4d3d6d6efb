"""The risk above a threshold: the bound, and the level that a chosen threshold keeps."""

from __future__ import annotations

import random

import pytest
from scipy.stats import binom

from evaluation.metrics.confidence import (
    Claim,
    bound_risk,
    count_fewest,
    find_safe_threshold,
    measure_risk,
)


@pytest.mark.parametrize(("wrong", "answered"), [(0, 29), (3, 40), (17, 300)])
def test_a_larger_risk_than_the_bound_would_show_so_few_wrong_in_one_of_twenty(
    wrong: int, answered: int
) -> None:
    assert binom.cdf(wrong, answered, bound_risk(wrong, answered)) == pytest.approx(0.05)


def test_the_fewest_answers_are_those_that_show_the_risk_with_none_wrong() -> None:
    fewest = count_fewest(0.1)
    assert bound_risk(0, fewest) <= 0.1 < bound_risk(0, fewest - 1)


def test_too_few_answers_show_nothing() -> None:
    assert find_safe_threshold([Claim(0.9, True)] * 28, 0.1) is None
    assert find_safe_threshold([Claim(0.9, True)] * 29, 0.1) == 0.9


def test_a_chosen_threshold_keeps_the_risk_in_nineteen_of_twenty_samples() -> None:
    generator = random.Random(0)
    exceeded = chosen = 0
    for _ in range(300):
        claims = []
        for _ in range(300):
            chance = generator.random()
            claims.append(Claim(chance, generator.random() < chance))
        threshold = find_safe_threshold(claims, 0.2)
        if threshold is not None:
            chosen += 1
            # The mean of 1 - chance above the threshold.
            exceeded += (1 - threshold) / 2 > 0.2
    assert chosen > 100
    assert exceeded / 300 < 0.08


def test_the_risk_is_of_what_is_answered() -> None:
    claims = [Claim(0.9, True), Claim(0.8, False), Claim(0.3, False)]
    found = measure_risk("mine", claims, 5, 0.8)
    assert (found.kind, found.questions, found.answered, found.wrong) == ("mine", 5, 2, 1)
