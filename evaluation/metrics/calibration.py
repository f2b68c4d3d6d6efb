"""The quality of a confidence: reliability, risk and coverage, abstention.

Computed over the questions that got an answer, as ``claims`` defines.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.metrics.claims import (
    Claim,
    build_bins,
    build_equal_bins,
    find_claim,
    measure_area,
    measure_auroc,
    measure_brier,
    measure_calibration_error,
    trace_risk,
)
from evaluation.metrics.figures import Abstention, ConfidenceFigures
from evaluation.metrics.statistics import estimate
from evaluation.runs.records import QuestionRecord


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
    bins = build_bins(claims)
    curve = trace_risk(claims)
    kept = [claim for claim in claims if claim.confidence >= threshold]
    return ConfidenceFigures(
        bins=bins,
        calibration_error=measure_calibration_error(bins),
        equal_mass_error=measure_calibration_error(build_equal_bins(claims)),
        brier=measure_brier(claims),
        auroc=measure_auroc(claims),
        risk_coverage=tuple((covered / questions, risk) for covered, risk in curve),
        area=measure_area(curve),
        at_threshold=Abstention(
            threshold, len(kept) / questions, estimate([float(claim.right) for claim in kept])
        ),
    )
