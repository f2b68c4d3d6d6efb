"""The figures of one run, and of two runs side by side: values only, how they come about is in
``metrics`` and ``pairing``.

Shares lie between 0 and 1, times are milliseconds or seconds as their names say.
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
    """Attempts at repair. ``fixed``: the repair executes; ``corrected``: wrong before, right after;

    ``broken``: right before, wrong after.
    """

    tried: int
    fixed: int
    corrected: int
    broken: int


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Answers whose confidence lies in [low, high): what was promised and what was kept."""

    low: float
    high: float
    confidence: float
    accuracy: float
    count: int


@dataclass(frozen=True, slots=True)
class Abstention:
    """What answering only above a confidence would give."""

    threshold: float
    coverage: float
    accuracy: Estimate


@dataclass(frozen=True, slots=True)
class ConfidenceFigures:
    """How far the confidence can be believed.

    ``calibration_error`` is the expected calibration error over ``bins`` of equal width,
    ``equal_mass_error`` over ten bins of as many answers each. ``risk_coverage`` holds (coverage,
    risk) from the most confident answer down, ``area`` is the area under it.
    """

    bins: tuple[ReliabilityBin, ...]
    calibration_error: float
    equal_mass_error: float
    brier: float
    auroc: float
    risk_coverage: tuple[tuple[float, float], ...]
    area: float
    at_threshold: Abstention


@dataclass(frozen=True, slots=True)
class CalibrationFigures:
    """What a fitted confidence is worth on questions it was not fitted on.

    ``overall`` is the accuracy over all ``questions``; the threshold of ``confidence`` is chosen on
    the same confidences that it then cuts. ``honest_accuracy`` and ``honest_coverage`` are of
    answers that were kept by a threshold chosen without their fold.
    """

    questions: int
    answered: int
    overall: float
    confidence: ConfidenceFigures
    honest_coverage: float
    honest_accuracy: Estimate


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Median and 95th percentile (nearest rank)."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run over the questions whose gold gave a result.

    ``first`` is the accuracy of the first sample, ``mean_sample`` that of a sample drawn at random,
    ``majority`` that of the result that most samples gave, None without a vote. ``accuracy`` is
    that of the answer given; ``chosen`` counts what the vote put first also where it was not given
    for being too unsure. ``oracle`` is the share with any right candidate: ``oracle - chosen`` is
    what selection leaves on the table. ``selection`` holds the vote against the better of
    ``first`` and ``majority``, None where there was nothing to choose. ``pass_at`` is the unbiased
    estimator for every power of two up to K, and K. ``repairs`` are by method,
    ``repair_rules`` by rule, ``repair_classes`` by the class of the error. ``recall_tables`` and
    ``recall_columns`` are over the first k retrieved, ``all_tables`` the share of questions that
    got every gold table.
    """

    questions: int
    counted: int
    gold_failed: tuple[tuple[str, str], ...]
    gold_empty: int
    errors: tuple[tuple[str, str], ...]
    outcomes: Mapping[str, int]
    accuracy: Estimate
    bird_ex: Estimate
    soft_f1: Estimate
    r_ves: Estimate | None
    executes: Estimate
    first: Estimate
    mean_sample: Estimate
    majority: Estimate | None
    chosen: Estimate
    oracle: Estimate
    selection: PairedComparison | None
    pass_at: Mapping[int, Estimate]
    by_difficulty: Mapping[str, Estimate]
    by_database: Mapping[str, Estimate]
    by_length: Mapping[str, Estimate]
    recall_tables: Mapping[int, Estimate]
    recall_columns: Estimate | None
    all_tables: Estimate | None
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
    """Two runs on the questions they share, ``right`` against ``left``.

    ``gained`` were wrong on the left and right on the right, ``lost`` the other way round;
    ``p_value`` is McNemar's exact test on those two. ``difference`` is right minus left.
    """

    left: str
    right: str
    shared: int
    both: int
    neither: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    difference: Estimate
    p_value: float
