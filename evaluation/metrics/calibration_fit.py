"""Fits the confidence to the results of runs: a logistic model on the features of each ranking.

The features are in every record's trace, so a fit uses the same inputs as the service. The figures
of the model are measured out of fold: the questions are divided into folds by database, so that the
confidence of a question does not depend on questions about the same database. The model that is
saved is fitted on all questions.

Ridge-penalised maximum likelihood by Newton's method (Hastie, Tibshirani & Friedman 2009, 4.4).
"""

from __future__ import annotations

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
from ranking.confidence.calibration import Calibration, Weight

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


class AskedQuestion(Protocol):
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


def collect_cases(records: Sequence[QuestionRecord], kind: str = "") -> list[Case]:
    """The answers of a run that were voted on and have features."""
    return [
        Case(record.id, record.database, record.trace["features"], claim.right, kind)
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
    found = {
        name: [case.features[name] for case in cases if name in case.features] for name in FEATURES
    }
    weights = tuple(
        Weight(name, float(np.mean(values)), float(np.std(values)), 0.0)
        for name, values in found.items()
        if len(set(values)) > 1
    )
    samples = round(2 ** cases[0].features["samples"])
    return Calibration(0.0, weights, samples, samples)


def cross_fit(
    cases: Sequence[Case], folds: int, *, by_database: bool = True, start: Calibration | None = None
) -> list[Claim]:
    """The confidence of each case by a calibration fitted without it, in the order of the cases.

    Without ``by_database``, only the records of the same question share a fold.
    """
    parts = assign_folds(cases, folds, by_database=by_database)
    fits = {
        part: fit_calibration(
            [case for case, at in zip(cases, parts, strict=True) if at != part], start
        )
        for part in sorted(set(parts))
    }
    return [
        Claim(fits[part].estimate(tuple(case.features.items())) or 0.0, case.right)
        for case, part in zip(cases, parts, strict=True)
    ]


def assign_folds(cases: Sequence[AskedQuestion], folds: int, *, by_database: bool) -> list[int]:
    """The fold of each case: groups by falling size, each into the smallest fold so far."""
    name_of: Callable[[AskedQuestion], str] = lambda case: (  # noqa: E731 - chosen once
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
    start: Calibration | None = None,
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
