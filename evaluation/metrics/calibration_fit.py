"""Fits the confidence to the results of runs: a logistic model on the features of each ranking.

The features are in every record's trace, so a fit uses the same inputs as the service. The figures
of the model are measured out of fold: the questions are divided into folds by database, so that the
confidence of a question does not depend on questions about the same database; by question if there
are fewer databases than folds. The model that is saved is fitted on all questions.

Ridge-penalised maximum likelihood (Hastie, Tibshirani & Friedman 2009, 4.4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from evaluation.metrics.confidence import (
    Claim,
    find_claim,
    find_safe_threshold,
    measure_claims,
    promise_threshold,
)
from evaluation.metrics.figures import CalibrationFigures
from evaluation.metrics.statistics import estimate
from evaluation.runs.records import QuestionRecord
from ranking.confidence.calibration import Calibration, Weight

# The ridge penalties on each standardised weight and on the intercept. Few own answers shift a
# calibration that is known to hold elsewhere: docs/lab/answers.md compares penalties.
_PENALTY, _INTERCEPT_PENALTY = 30.0, 1e-6
_PENALTY_WITH_START, _INTERCEPT_PENALTY_WITH_START = 100.0, 5.0
_FOLDS = 5

_Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One answer: its question, its features, and whether a person accepts it as right."""

    question: str
    database: str
    features: Mapping[str, float]
    right: bool


def collect_cases(records: Sequence[QuestionRecord]) -> list[Case]:
    """The answers of a run that were voted on and have features."""
    return [
        Case(record.id, record.database, record.trace["features"], claim.accepted)
        for record in records
        if record.counts
        and record.trace.get("features")
        and (claim := find_claim(record)) is not None
    ]


def fit_calibration(cases: Sequence[Case], start: Calibration | None = None) -> Calibration:
    """The calibration of maximum penalised likelihood. Constant features are left out.

    With a ``start``, its features are used, and larger penalties draw the weights and the intercept
    towards its own: few cases then change the intercept a little, and many the weights too.
    """
    penalties = (_INTERCEPT_PENALTY_WITH_START, _PENALTY_WITH_START)
    if start is None:
        start, penalties = _find_scales(cases), (_INTERCEPT_PENALTY, _PENALTY)
    columns = [
        [(case.features.get(term.feature, term.mean) - term.mean) / term.scale for case in cases]
        for term in start.weights
    ]
    right = np.array([float(case.right) for case in cases])
    # A question in several runs counts as one question.
    repeats = Counter((case.database, case.question) for case in cases)
    shares = np.array([1 / repeats[case.database, case.question] for case in cases])
    intercept, *weights = _maximize(
        np.array([np.ones(len(cases)), *columns]).T,
        right,
        shares,
        np.array([start.intercept, *(term.weight for term in start.weights)]),
        penalties,
    )
    samples = [round(2 ** case.features["samples"]) for case in cases]
    return replace(
        start,
        intercept=float(intercept),
        weights=tuple(
            replace(term, weight=float(weight))
            for term, weight in zip(start.weights, weights, strict=True)
        ),
        fewest=min([start.fewest, *samples]),
        most=max([start.most, *samples]),
    )


def _find_scales(cases: Sequence[Case]) -> Calibration:
    """A calibration with weights of 0, over the features that differ."""
    found = {name: [case.features[name] for case in cases] for name in cases[0].features}
    weights = tuple(
        Weight(name, float(np.mean(values)), float(np.std(values)), 0.0)
        for name, values in found.items()
        if len(set(values)) > 1
    )
    samples = round(2 ** cases[0].features["samples"])
    return Calibration(0.0, weights, samples, samples)


def cross_fit(
    cases: Sequence[Case], parts: Sequence[int], start: Calibration | None = None
) -> list[Claim]:
    """The confidence of each case by a calibration fitted without its part (its fold)."""
    fits = {
        part: fit_calibration(
            [case for case, at in zip(cases, parts, strict=True) if at != part], start
        )
        for part in sorted(set(parts))
    }
    return [
        Claim(fits[part].estimate(tuple(case.features.items())), case.right)
        for case, part in zip(cases, parts, strict=True)
    ]


def assign_folds(names: Sequence[str], folds: int) -> list[int]:
    """The fold of each name: equal names by falling number, each into the smallest fold so far."""
    filled = [0] * folds
    fold_of: dict[str, int] = {}
    for name, count in sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])):
        fold = filled.index(min(filled))
        fold_of[name] = fold
        filled[fold] += count
    return [fold_of[name] for name in names]


def measure_fit(
    cases: Sequence[Case], questions: int, risk: float, start: Calibration | None = None
) -> CalibrationFigures:
    """Measures the confidence on questions that it was not fitted on; ``questions`` were asked.

    The threshold is the lowest above which at most a share of ``risk`` is wrong, with 95 %
    confidence; of a question with several cases, the first counts. The ``honest_*`` figures cut
    each fold by the threshold of the others.
    """
    has_databases = len({case.database for case in cases}) >= _FOLDS
    parts = assign_folds(
        [case.database if has_databases else f"{case.database} {case.question}" for case in cases],
        _FOLDS,
    )
    claims = cross_fit(cases, parts, start)
    seen: dict[tuple[str, str], int] = {}
    for at, case in enumerate(cases):
        seen.setdefault((case.database, case.question), at)
    once = [(parts[at], claims[at]) for at in seen.values()]
    threshold, is_safe = choose_threshold([claim for _, claim in once], risk)
    kept: list[Claim] = []
    for part in sorted(set(parts)):
        limit, _ = choose_threshold([claim for at, claim in once if at != part], risk)
        kept += [claim for at, claim in once if at == part and claim.confidence >= limit]
    return CalibrationFigures(
        questions=questions,
        answered=len(once),
        confidence=measure_claims([claim for _, claim in once], questions, threshold),
        is_safe=is_safe,
        honest_coverage=len(kept) / questions,
        honest_accuracy=estimate([float(claim.right) for claim in kept]),
        folds="databases" if has_databases else "questions",
    )


def choose_threshold(claims: Sequence[Claim], risk: float) -> tuple[float, bool]:
    """The threshold that keeps the risk, and whether that is shown or only promised."""
    safe = find_safe_threshold(claims, risk)
    return (promise_threshold(claims, risk), False) if safe is None else (safe, True)


def render_calibration(calibration: Calibration, provenance: Mapping[str, Any]) -> Any:
    """The calibration with its provenance, as the JSON value that ``ranking.confidence`` reads."""
    return {
        "provenance": dict(provenance),
        "samples": [calibration.fewest, calibration.most],
        "threshold": round(calibration.threshold, 4),
        "intercept": round(calibration.intercept, 6),
        "features": {
            term.feature: {
                "mean": round(term.mean, 6),
                "scale": round(term.scale, 6),
                "weight": round(term.weight, 6),
            }
            for term in calibration.weights
        },
    }


def _maximize(
    table: _Numbers,
    right: _Numbers,
    shares: _Numbers,
    start: _Numbers,
    penalties: tuple[float, float],
) -> _Numbers:
    """The weights, of which the intercept comes first, as its column and its penalty do."""
    penalty = np.full(table.shape[1], penalties[1])
    penalty[0] = penalties[0]
    signs = 2 * right - 1

    def measure(weights: _Numbers) -> tuple[float, _Numbers]:
        margins, moved = signs * (table @ weights), weights - start
        loss = shares @ np.logaddexp(0, -margins) + penalty @ moved**2 / 2
        slope = -table.T @ (shares * signs * expit(-margins)) + penalty * moved
        return float(loss), slope

    return np.asarray(minimize(measure, start, jac=True, method="BFGS").x)
