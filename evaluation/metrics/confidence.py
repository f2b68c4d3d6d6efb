"""The quality of a confidence: calibration, risk and coverage, abstention, and a safe threshold.

A claim is the confidence of an answer and whether it was right, the basis of all figures. Only
answered questions make a claim. A ``clarify`` counts with the answer that it would have got, if its
confidence was recorded (above 0, since no vote has a confidence of 0).

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
from typing import NamedTuple

from scipy.stats import beta, mannwhitneyu

from evaluation.metrics.figures import Abstention, ConfidenceFigures
from evaluation.metrics.statistics import estimate
from evaluation.runs.records import QuestionRecord

_BINS = 10
# One-sided.
LEVEL = 0.95
# The sequence begins with this share of all answers, or more if so few cannot show anything.
_FIRST_SHARE = 0.2


class Claim(NamedTuple):
    """The confidence of one answer, whether it was right, and whether a person accepts it."""

    confidence: float
    right: bool
    accepted: bool = False


def find_claim(record: QuestionRecord) -> Claim | None:
    """The claim of a record, or None."""
    if record.outcome == "answered":
        return Claim(record.confidence, record.correct, record.accepted)
    if record.outcome == "clarify" and record.confidence > 0:
        # As in the pipeline: the first candidate of the ranking with a result.
        return Claim(
            record.confidence,
            next(
                (candidate.correct for candidate in record.candidates if candidate.group >= 0),
                False,
            ),
            record.accepted,
        )
    return None


def measure_calibration_error(claims: Sequence[Claim]) -> float:
    """Expected calibration error (Naeini et al. 2015; Guo et al. 2017, equation 3).

    Over bins of equal width, the last including its upper end.

    >>> measure_calibration_error([Claim(0.75, True), Claim(0.75, False)])
    0.25
    """
    gaps = [0.0] * _BINS
    for claim in claims:
        gaps[_find_bin(claim.confidence)] += claim.confidence - claim.right
    return sum(map(abs, gaps)) / len(claims)


def expect_chance_error(claims: Sequence[Claim]) -> float:
    """The calibration error to expect if every confidence were the true probability.

    A bin's error is then a sum of independent outcomes, taken as normal, whose mean absolute
    deviation is √(2/π) standard deviations. Few questions show an error however good the
    confidence is (Bröcker and Smith 2007).

    >>> round(expect_chance_error([Claim(0.75, True)] * 12), 3)
    0.1
    """
    variances = [0.0] * _BINS
    for confidence, *_ in claims:
        variances[_find_bin(confidence)] += confidence * (1 - confidence)
    return sum(math.sqrt(2 / math.pi * variance) for variance in variances) / len(claims)


def _find_bin(confidence: float) -> int:
    return min(int(confidence * _BINS), _BINS - 1)


def measure_brier(claims: Sequence[Claim]) -> float:
    """The mean squared difference of confidence and outcome (Brier, Monthly Weather Review 1950).

    >>> measure_brier([Claim(0.5, True), Claim(0.0, False)])
    0.125
    """
    return sum((claim.confidence - claim.right) ** 2 for claim in claims) / len(claims)


def measure_auroc(claims: Sequence[Claim]) -> float:
    """The probability that a right answer has more confidence than a wrong one; a tie counts half.

    The area under the ROC curve (Hanley and McNeil, Radiology 1982), by Mann and Whitney's U. 0.5
    if all are right or all are wrong.

    >>> measure_auroc([Claim(0.9, True), Claim(0.4, False), Claim(0.4, True)])
    0.75
    """
    right = [claim.confidence for claim in claims if claim.right]
    wrong = [claim.confidence for claim in claims if not claim.right]
    if not right or not wrong:
        return 0.5
    return float(mannwhitneyu(right, wrong).statistic) / (len(right) * len(wrong))


def trace_risk(claims: Sequence[Claim]) -> list[tuple[int, float]]:
    """(answers given, share of them wrong) for falling thresholds (Geifman & El-Yaniv 2017).

    Answers of equal confidence are added together, so their order makes no difference.
    """
    ordered = sorted(claims, key=lambda claim: -claim.confidence)
    curve = []
    covered = wrong = 0
    for _, tied in groupby(ordered, key=lambda claim: claim.confidence):
        for claim in tied:
            covered += 1
            wrong += not claim.right
        curve.append((covered, wrong / covered))
    return curve


def measure_confidence(
    records: Sequence[QuestionRecord], threshold: float
) -> ConfidenceFigures | None:
    """The figures of the confidence; coverage is the share of all ``records``.

    None without a vote: with one sample per question nothing can agree.
    """
    claims = [claim for record in records if (claim := find_claim(record)) is not None]
    if not claims or all(record.k == 1 for record in records):
        return None
    return measure_claims(claims, len(records), threshold)


def measure_claims(claims: Sequence[Claim], questions: int, threshold: float) -> ConfidenceFigures:
    """The figures of at least one claim; ``questions`` is the number of all questions."""
    curve = trace_risk(claims)
    kept = [claim for claim in claims if claim.confidence >= threshold]
    return ConfidenceFigures(
        calibration_error=measure_calibration_error(claims),
        chance_error=expect_chance_error(claims),
        brier=measure_brier(claims),
        auroc=measure_auroc(claims),
        risk_coverage=tuple((covered / questions, risk) for covered, risk in curve),
        at_threshold=Abstention(
            threshold,
            len(kept) / questions,
            estimate([float(claim.right) for claim in kept]),
            estimate([float(claim.accepted) for claim in kept]),
        ),
    )


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
