"""The figures of one run, and of two runs compared. ``metrics`` and ``pairing`` compute them.

Shares are between 0 and 1, times are milliseconds or seconds as their names say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``count`` questions with its bootstrap 95 % interval."""

    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class RepairFigures:
    """Attempts at repair.

    ``fixed``: the repair executes; ``corrected``: wrong before, right after; ``broken``: right
    before, wrong after.
    """

    tried: int
    fixed: int
    corrected: int
    broken: int


@dataclass(frozen=True, slots=True)
class Abstention:
    """Coverage and accuracy of answering only from a ``threshold`` of confidence on.

    ``judged`` is the share of these answers that a person accepts.
    """

    threshold: float
    coverage: float
    accuracy: Estimate
    judged: Estimate


@dataclass(frozen=True, slots=True)
class ConfidenceFigures:
    """The quality of the confidence.

    ``calibration_error`` is the expected calibration error over bins of equal width, and
    ``chance_error`` what a perfectly calibrated confidence would show on as many questions.
    ``risk_coverage`` holds (coverage, risk) from the most confident answer down.
    """

    calibration_error: float
    chance_error: float
    brier: float
    auroc: float
    risk_coverage: tuple[tuple[float, float], ...]
    at_threshold: Abstention


@dataclass(frozen=True, slots=True)
class CalibrationFigures:
    """The quality of a fitted confidence on questions that it was not fitted on.

    ``is_safe``: the threshold of ``confidence`` keeps the risk with 95 % confidence; otherwise it
    is the one that the confidences promise to. ``honest_accuracy`` and ``honest_coverage`` are
    those of answers selected by a threshold that was chosen without their fold. ``folds`` says what
    was kept together: databases, or questions where there are few databases.
    """

    questions: int
    answered: int
    confidence: ConfidenceFigures
    is_safe: bool
    honest_coverage: float
    honest_accuracy: Estimate
    folds: str


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Median and 95th percentile (nearest rank)."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run over the questions whose gold gave a result.

    ``first`` is the accuracy of the first sample, ``majority`` that of the commonest result, None
    without a vote. ``accuracy`` is that of the answers given; ``chosen`` also counts the vote's
    winner if the outcome was clarify, and ``judged`` all of these that a person accepts.
    ``oracle`` is the share with any right candidate: ``oracle -
    chosen`` is the loss by selection. ``repairs`` are by method, ``repair_rules`` by rule,
    ``repair_classes`` by the class of the error.
    """

    questions: int
    counted: int
    gold_failed: tuple[tuple[str, str], ...]
    gold_empty: int
    errors: tuple[tuple[str, str], ...]
    outcomes: Mapping[str, int]
    accuracy: Estimate
    executes: Estimate
    first: Estimate
    majority: Estimate | None
    chosen: Estimate
    judged: Estimate
    oracle: Estimate
    by_difficulty: Mapping[str, Estimate]
    by_database: Mapping[str, Estimate]
    repairs: Mapping[str, RepairFigures]
    repair_rules: Mapping[str, RepairFigures]
    repair_classes: Mapping[str, RepairFigures]
    confidence: ConfidenceFigures | None
    stages_ms: Mapping[str, Percentiles]
    own_ms: Percentiles
    seconds: Percentiles
    prompt_tokens: float
    completion_tokens: float
    questions_per_minute: float


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Two runs compared on their shared questions.

    ``gained`` lists the questions that only the run ``right`` answers correctly, ``lost`` those
    that only ``left`` does; ``p_value`` is McNemar's exact test on these. ``difference`` is the
    accuracy of ``right`` minus that of ``left``.
    """

    left: str
    right: str
    shared: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    difference: Estimate
    p_value: float
