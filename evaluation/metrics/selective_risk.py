"""The share of wrong answers above a threshold, with a bound that holds for finitely many.

The bound is the exact one of Clopper and Pearson (Biometrika 1934). A threshold is found by testing
a sequence that is fixed before the outcomes are seen, from the surest answers on, and stopping at
the first that fails: so the level of the bound holds for the threshold that is returned (fixed
sequence testing in Angelopoulos et al., Learn then Test, 2021). The level holds over new questions
that come like these; it says nothing about others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from scipy.stats import beta

from evaluation.metrics.claims import Claim
from evaluation.metrics.figures import RiskAtThreshold

# One-sided.
LEVEL = 0.95
# The sequence begins with this share of all answers, or more if so few cannot show anything.
_FIRST_SHARE = 0.2


def bound_risk(wrong: int, answered: int) -> float:
    """The share of wrong answers that is not exceeded, at ``LEVEL``.

    >>> round(bound_risk(0, 29), 3), round(bound_risk(10, 200), 3), bound_risk(0, 0)
    (0.098, 0.083, 1.0)
    """
    if wrong >= answered:
        return 1.0
    return float(beta.ppf(LEVEL, wrong + 1, answered - wrong))


def count_fewest(risk: float) -> int:
    """The fewest answers, all of them right, that show a risk.

    >>> count_fewest(0.1)
    29
    """
    return math.ceil(math.log(1 - LEVEL) / math.log(1 - risk))


def find_safe_threshold(claims: Sequence[Claim], risk: float) -> float | None:
    """The lowest threshold above which at most this share is wrong, at ``LEVEL``; None if none is.

    >>> claims = [Claim(at / 100, at > 40) for at in range(100)]
    >>> find_safe_threshold(claims, 0.1), find_safe_threshold(claims[60:80], 0.1)
    (0.39, None)
    """
    first = max(count_fewest(risk), math.ceil(_FIRST_SHARE * len(claims)))
    found = None
    answered = wrong = 0
    ordered = sorted(claims, key=lambda claim: -claim.confidence)
    for confidence, tied in groupby(ordered, key=lambda claim: claim.confidence):
        outcomes = [claim.right for claim in tied]
        answered += len(outcomes)
        wrong += outcomes.count(False)
        if answered < first:
            continue
        if bound_risk(wrong, answered) > risk:
            break
        found = confidence
    return found


def promise_threshold(claims: Sequence[Claim], risk: float) -> float:
    """The lowest threshold above which the confidences themselves promise the risk; 1 if none does.

    >>> promise_threshold([Claim(0.97, True), Claim(0.87, True), Claim(0.6, False)], 0.1)
    0.87
    """
    found, total = 1.0, 0.0
    ordered = sorted((claim.confidence for claim in claims), reverse=True)
    for count, confidence in enumerate(ordered, start=1):
        total += confidence
        if 1 - total / count > risk:
            break
        found = confidence
    return found


def measure_risk(
    name: str, claims: Sequence[Claim], questions: int, threshold: float
) -> RiskAtThreshold:
    """Answers from the threshold up, how many are wrong, and the bound."""
    kept = [claim for claim in claims if claim.confidence >= threshold]
    wrong = sum(not claim.right for claim in kept)
    return RiskAtThreshold(name, questions, len(kept), wrong, bound_risk(wrong, len(kept)))
