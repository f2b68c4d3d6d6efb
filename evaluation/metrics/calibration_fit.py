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
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evaluation.metrics.confidence import (
    Claim,
    find_claim,
    find_safe_threshold,
    measure_claims,
    measure_risk,
    promise_threshold,
)
from evaluation.metrics.figures import CalibrationFigures
from evaluation.metrics.statistics import estimate
from evaluation.runs.records import QuestionRecord
from ranking.confidence.calibration import Calibration

# The features that a fit uses; a trace can hold others.
FEATURES = (
    "agreement",
    "margin",
    "weight",
    "lead",
    "executes",
    "groups",
    "samples",
    "score",
    "score_margin",
    "logprob",
    "empty",
    "repaired",
    "derived",
    "tables",
    "length",
    "catalog",
    "named",
    "cosine",
    "cosine_gap",
    "words",
)
# The ridge penalties on each standardised weight and on the intercept. Few own answers shift a
# calibration that is known to hold elsewhere: docs/lab/answers.md compares penalties.
_PENALTY, _INTERCEPT_PENALTY = 30.0, 1e-6
_PENALTY_WITH_START, _INTERCEPT_PENALTY_WITH_START = 100.0, 5.0
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
    """One answer: its question, its features, and whether it was right.

    ``kind`` is the benchmark, for which a risk is stated.
    """

    question: str
    database: str
    features: Mapping[str, float]
    right: bool
    kind: str = ""


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


def build_model(calibration: Calibration) -> Model:
    """The model of a calibration, for a fit to begin with."""
    weights = calibration.weights
    return Model(
        calibration.intercept,
        tuple(weight.feature for weight in weights),
        tuple(weight.mean for weight in weights),
        tuple(weight.scale for weight in weights),
        tuple(weight.weight for weight in weights),
    )


def collect_cases(records: Sequence[QuestionRecord], kind: str = "") -> list[Case]:
    """The answers of a run that were voted on and have features."""
    return [
        Case(record.id, record.database, record.trace["features"], claim.right, kind)
        for record in records
        if record.counts
        and record.trace.get("features")
        and (claim := find_claim(record)) is not None
    ]


def fit_model(cases: Sequence[Case], start: Model | None = None) -> Model:
    """The model of maximum penalised likelihood. Constant features are left out.

    With a ``start``, its features are used, and larger penalties draw the weights and the intercept
    towards its own: few cases then change the intercept a little, and many the weights too.
    """
    penalties = (_INTERCEPT_PENALTY_WITH_START, _PENALTY_WITH_START)
    if start is None:
        start, penalties = _find_scales(cases), (_INTERCEPT_PENALTY, _PENALTY)
    table = np.array([[case.features.get(name, np.nan) for name in start.names] for case in cases])
    table = table.reshape(len(cases), len(start.names))
    standard = np.where(np.isnan(table), 0.0, (table - start.means) / start.scales)
    right = np.array([float(case.right) for case in cases])
    # A question in several runs counts as one question.
    repeats = Counter((case.database, case.question) for case in cases)
    shares = np.array([1 / repeats[case.database, case.question] for case in cases])
    weights = _maximize(
        np.column_stack([np.ones(len(cases)), standard]),
        right,
        shares,
        np.array([start.intercept, *start.weights]),
        penalties,
    )
    return replace(start, intercept=float(weights[0]), weights=tuple(map(float, weights[1:])))


def _find_scales(cases: Sequence[Case]) -> Model:
    """A model without weights, over the features that differ."""
    found = {
        name: [case.features[name] for case in cases if name in case.features] for name in FEATURES
    }
    varied = {name: values for name, values in found.items() if len(set(values)) > 1}
    return Model(
        0.0,
        tuple(varied),
        tuple(float(np.mean(values)) for values in varied.values()),
        tuple(float(np.std(values)) for values in varied.values()),
        (0.0,) * len(varied),
    )


def cross_fit(
    cases: Sequence[Case], folds: int, *, by_database: bool = True, start: Model | None = None
) -> list[Claim]:
    """The confidence of each case by a model fitted without it, in the order of the cases.

    Without ``by_database``, only the records of the same question share a fold.
    """
    parts = assign_folds(cases, folds, by_database=by_database)
    models = {
        part: fit_model([case for case, at in zip(cases, parts, strict=True) if at != part], start)
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
    cases: Sequence[Case],
    questions: Mapping[str, int],
    folds: int,
    *,
    by_database: bool,
    risk: float,
    start: Model | None = None,
) -> CalibrationFigures:
    """Measures the confidence on questions that it was not fitted on.

    ``questions`` are the numbers of different questions by kind. The threshold is the lowest above
    which at most a share of ``risk`` is wrong, with 95 % confidence; of a question with several
    cases, the first counts. The ``honest_*`` figures cut each fold by the threshold of the others.
    """
    claims = cross_fit(cases, folds, by_database=by_database, start=start)
    seen: dict[tuple[str, str], int] = {}
    for at, case in enumerate(cases):
        seen.setdefault((case.database, case.question), at)
    once = list(seen.values())
    threshold, is_safe = choose_threshold([claims[at] for at in once], risk)
    parts = assign_folds(cases, folds, by_database=by_database)
    kept: list[Claim] = []
    for part in sorted(set(parts)):
        limit, _ = choose_threshold([claims[at] for at in once if parts[at] != part], risk)
        here = [claims[at] for at in once if parts[at] == part]
        kept += [claim for claim in here if claim.confidence >= limit]
    total = sum(questions.values())
    return CalibrationFigures(
        questions=total,
        answered=len(once),
        overall=sum(claims[at].right for at in once) / total,
        confidence=measure_claims([claims[at] for at in once], total, threshold),
        is_safe=is_safe,
        pooled=measure_risk("all", [claims[at] for at in once], total, threshold),
        kinds=tuple(
            measure_risk(
                kind, [claims[at] for at in once if cases[at].kind == kind], count, threshold
            )
            for kind, count in questions.items()
        ),
        honest_coverage=len(kept) / total,
        honest_accuracy=estimate([float(claim.right) for claim in kept]),
    )


def choose_threshold(claims: Sequence[Claim], risk: float) -> tuple[float, bool]:
    """The threshold that keeps the risk, and whether that is shown or only promised."""
    safe = find_safe_threshold(claims, risk)
    return (promise_threshold(claims, risk), False) if safe is None else (safe, True)


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


def _maximize(
    table: _Numbers,
    right: _Numbers,
    shares: _Numbers,
    start: _Numbers,
    penalties: tuple[float, float],
) -> _Numbers:
    """Newton's method until convergence; the first penalty is of the intercept, in column 0."""
    penalty = np.full(table.shape[1], penalties[1])
    penalty[0] = penalties[0]
    weights = start.copy()
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(table @ weights, -30, 30)))
        slope = table.T @ (shares * (right - chance)) - penalty * (weights - start)
        spread = shares * chance * (1 - chance)
        curvature = (table * spread[:, None]).T @ table + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-9:
            break
    return weights
