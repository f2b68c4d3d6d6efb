"""Fits the confidence to the results of runs: a logistic model on the features of each ranking.

The features are in every record's trace, so a fit uses the same inputs as the service. The figures
of the model are measured out of fold: the questions are divided into folds by database, so that the
confidence of a question does not depend on questions about the same database. The model that is
saved is fitted on all questions.

Ridge-penalised maximum likelihood by Newton's method (Hastie, Tibshirani & Friedman 2009, 4.4).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evaluation.metrics.calibration import measure_claims
from evaluation.metrics.claims import Claim, find_claim, find_threshold
from evaluation.metrics.figures import CalibrationFigures, ConfidenceFigures
from evaluation.metrics.statistics import estimate
from evaluation.runs.records import QuestionRecord

# The features that a fit uses; a trace can hold others.
FEATURES = (
    "agreement",
    "margin",
    "weight",
    "executes",
    "groups",
    "samples",
    "score",
    "score_margin",
    "logprob",
    "empty",
    "repaired",
    "length",
    "cosine",
    "cosine_gap",
    "words",
)
# The ridge penalty on each standardised weight.
_PENALTY = 30.0
_STEPS = 50

_Numbers = npt.NDArray[np.float64]


class Asked(Protocol):
    """What belongs to a question about a database."""

    @property
    def question(self) -> str:
        """The id of the question."""

    @property
    def database(self) -> str:
        """The name of the database."""


@dataclass(frozen=True, slots=True)
class Case:
    """One answer: its question, its features, and whether it was right."""

    question: str
    database: str
    features: Mapping[str, float]
    right: bool


@dataclass(frozen=True, slots=True)
class Model:
    """A logistic model over standardised features; unknown features count as their mean."""

    intercept: float
    names: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]

    def estimate(self, features: Mapping[str, float]) -> float:
        """The probability that an answer with these features is right."""
        total = self.intercept + sum(
            weight * (features.get(name, mean) - mean) / scale
            for name, mean, scale, weight in zip(
                self.names, self.means, self.scales, self.weights, strict=True
            )
        )
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def collect_cases(records: Sequence[QuestionRecord]) -> list[Case]:
    """The answers of a run that were voted on and have features."""
    return [
        Case(record.id, record.database, record.trace["features"], claim.right)
        for record in records
        if record.counts
        and record.trace.get("features")
        and (claim := find_claim(record)) is not None
    ]


def fit_model(cases: Sequence[Case]) -> Model:
    """The model of maximum penalised likelihood. Constant features are left out."""
    names = [name for name in FEATURES if len({case.features.get(name) for case in cases}) > 1]
    table = np.array([[case.features.get(name, np.nan) for name in names] for case in cases])
    means = np.nanmean(table, axis=0)
    scales = np.nanstd(table, axis=0)
    keep = scales > 0
    table, means, scales = table[:, keep], means[keep], scales[keep]
    standard = np.where(np.isnan(table), 0.0, (table - means) / scales)
    right = np.array([float(case.right) for case in cases])
    # A question in several runs counts as one question.
    repeats = Counter((case.database, case.question) for case in cases)
    shares = np.array([1 / repeats[case.database, case.question] for case in cases])
    weights = _maximize(np.column_stack([np.ones(len(cases)), standard]), right, shares)
    return Model(
        intercept=float(weights[0]),
        names=tuple(name for name, kept in zip(names, keep, strict=True) if kept),
        means=tuple(map(float, means)),
        scales=tuple(map(float, scales)),
        weights=tuple(map(float, weights[1:])),
    )


def cross_fit(cases: Sequence[Case], folds: int, *, by_database: bool = True) -> list[Claim]:
    """The confidence of each case by a model fitted without it, in the order of the cases.

    Without ``by_database``, only the records of the same question share a fold.
    """
    parts = assign_folds(cases, folds, by_database=by_database)
    models = {
        part: fit_model([case for case, at in zip(cases, parts, strict=True) if at != part])
        for part in sorted(set(parts))
    }
    return [
        Claim(models[part].estimate(case.features), case.right)
        for case, part in zip(cases, parts, strict=True)
    ]


def assign_folds(cases: Sequence[Asked], folds: int, *, by_database: bool) -> list[int]:
    """The fold of each case: groups by falling size, each into the smallest fold so far."""
    name_of: Callable[[Asked], str] = lambda case: (  # noqa: E731 - chosen once
        case.database if by_database else case.question
    )
    sizes: dict[str, int] = {}
    for case in cases:
        sizes[name_of(case)] = sizes.get(name_of(case), 0) + 1
    filled = [0] * min(folds, len(sizes))
    fold_of: dict[str, int] = {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold = filled.index(min(filled))
        fold_of[name] = fold
        filled[fold] += sizes[name]
    return [fold_of[name_of(case)] for case in cases]


def measure_fit(
    cases: Sequence[Case], questions: int, folds: int, *, by_database: bool, gain: float
) -> CalibrationFigures:
    """Measures the confidence on questions that it was not fitted on.

    The threshold is the lowest at which the answers are by ``gain`` more accurate than all
    ``questions``. The ``honest_*`` figures cut each fold by the threshold of the other folds.
    """
    claims = cross_fit(cases, folds, by_database=by_database)
    overall = sum(claim.right for claim in claims) / questions
    wanted = overall + gain
    threshold = find_threshold(claims, wanted)
    parts = assign_folds(cases, folds, by_database=by_database)
    kept: list[Claim] = []
    for part in sorted(set(parts)):
        others = [claim for claim, at in zip(claims, parts, strict=True) if at != part]
        limit = find_threshold(others, wanted)
        kept += [
            claim
            for claim, at in zip(claims, parts, strict=True)
            if at == part and limit is not None and claim.confidence >= limit
        ]
    figures: ConfidenceFigures = measure_claims(
        claims, questions, 1.0 if threshold is None else threshold
    )
    return CalibrationFigures(
        questions=questions,
        answered=len(claims),
        overall=overall,
        confidence=figures,
        honest_coverage=len(kept) / questions,
        honest_accuracy=estimate([float(claim.right) for claim in kept]),
    )


def render_model(
    model: Model, samples: tuple[int, int], threshold: float, provenance: Mapping[str, Any]
) -> Any:
    """The model with its provenance, as the JSON value that ``ranking.confidence`` reads."""
    return {
        "provenance": dict(provenance),
        "samples": list(samples),
        "threshold": round(threshold, 4),
        "intercept": round(model.intercept, 6),
        "features": {
            name: {"mean": round(mean, 6), "scale": round(scale, 6), "weight": round(weight, 6)}
            for name, mean, scale, weight in zip(
                model.names, model.means, model.scales, model.weights, strict=True
            )
        },
    }


def _maximize(table: _Numbers, right: _Numbers, shares: _Numbers) -> _Numbers:
    """Newton's method until convergence; the intercept, in column 0, is not penalised."""
    penalty = np.full(table.shape[1], _PENALTY)
    penalty[0] = 1e-6
    weights = np.zeros(table.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(table @ weights, -30, 30)))
        slope = table.T @ (shares * (right - chance)) - penalty * weights
        spread = shares * chance * (1 - chance)
        curvature = (table * spread[:, None]).T @ table + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-9:
            break
    return weights
