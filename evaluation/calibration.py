"""How far a confidence can be believed: reliability, risk against coverage, abstention.

Over the questions that got an answer. One that was given back for being too unsure (``clarify``)
counts by the answer it would have got, where its confidence was recorded: above 0, since no vote
has a confidence of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from evaluation.figures import Abstention, ConfidenceFigures, ReliabilityBin
from evaluation.records import QuestionRecord
from evaluation.statistics import estimate

_BINS = 10


class _Claim(NamedTuple):
    """What was promised of one answer, and whether it was kept."""

    confidence: float
    right: bool


def measure_confidence(
    records: Sequence[QuestionRecord], threshold: float
) -> ConfidenceFigures | None:
    """The figures of a confidence; coverage is the share of all ``records``.

    None where no answer was voted on: with one sample a question there is nothing to agree with.
    """
    claims = [claim for record in records if (claim := _find_claim(record)) is not None]
    if not claims or all(record.k == 1 for record in records):
        return None
    bins = _build_bins(claims)
    curve = _trace_risk(claims)
    kept = [claim for claim in claims if claim.confidence >= threshold]
    return ConfidenceFigures(
        bins=bins,
        # Expected calibration error (Naeini et al. 2015; Guo et al. 2017, equation 3).
        calibration_error=sum(
            each.count / len(claims) * abs(each.accuracy - each.confidence) for each in bins
        ),
        risk_coverage=tuple((covered / len(records), risk) for covered, risk in curve),
        area=_measure_area(curve),
        at_threshold=Abstention(
            threshold, len(kept) / len(records), estimate([float(claim.right) for claim in kept])
        ),
    )


def _find_claim(record: QuestionRecord) -> _Claim | None:
    if record.outcome == "answered":
        return _Claim(record.confidence, record.correct)
    if record.outcome == "clarify" and record.confidence > 0:
        # As in the pipeline: the first of the ranking that has a result.
        return _Claim(
            record.confidence,
            next((each.correct for each in record.candidates if each.group >= 0), False),
        )
    return None


def _build_bins(claims: Sequence[_Claim]) -> tuple[ReliabilityBin, ...]:
    """Bins of equal width, the last with both its ends; empty ones are left out."""
    filled: dict[int, list[_Claim]] = {}
    for claim in claims:
        filled.setdefault(min(int(claim.confidence * _BINS), _BINS - 1), []).append(claim)
    return tuple(
        ReliabilityBin(
            low=number / _BINS,
            high=(number + 1) / _BINS,
            confidence=sum(claim.confidence for claim in inside) / len(inside),
            accuracy=sum(claim.right for claim in inside) / len(inside),
            count=len(inside),
        )
        for number, inside in sorted(filled.items())
    )


def _trace_risk(claims: Sequence[_Claim]) -> list[tuple[int, float]]:
    """(answers given, share of them wrong) as the bar is lowered (Geifman & El-Yaniv 2017).

    Answers of equal confidence are let in together, so their order makes no difference.
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


def _measure_area(curve: Sequence[tuple[int, float]]) -> float:
    """AURC (Geifman, Uziel & El-Yaniv 2019): the mean risk over the steps, one step an answer.

    Answers that are let in together each count with the risk they arrive at.

    >>> _measure_area([(1, 0.0), (3, 1 / 3)])  # (0 + 1/3 + 1/3) / 3
    0.2222222222222222
    """
    before = [0, *(covered for covered, _ in curve)]
    steps = (
        (covered - previous) * risk
        for previous, (covered, risk) in zip(before, curve, strict=False)
    )
    return sum(steps) / curve[-1][0]
