"""Computes the figures of one run from its records.

A question whose gold query gave no result counts in no figure. A question at which the pipeline
raised counts as wrong. Both are listed. Accuracies are over all counted questions, answered or not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from evaluation.metrics.confidence import measure_confidence
from evaluation.metrics.figures import Estimate, RepairFigures, Summary
from evaluation.metrics.pairing import (
    has_groups,
    is_first_correct,
    is_majority_correct,
    is_vote_correct,
)
from evaluation.metrics.statistics import (
    average,
    estimate,
    measure_percentiles,
    measure_stages,
)
from evaluation.runs.records import QuestionRecord, RepairRecord

MODEL_STAGES = frozenset({"generate", "repair"})
"""The stages in which the model runs; all others are the pipeline's own time."""

_OUTCOMES = ("answered", "clarify", "refused", "failed", "error")
# The difficulties of Spider and BIRD, easiest first; others follow by name.
_DIFFICULTIES = (
    ("easy", "simple"),
    ("medium", "moderate"),
    ("hard", "challenging"),
    ("extra", "extra hard"),
)
_UNRATED = "unrated"

_Score = Callable[[QuestionRecord], float]


def summarize(records: Sequence[QuestionRecord], *, seconds: float, threshold: float) -> Summary:
    """All figures of a run that took ``seconds`` of wall time.

    ``threshold`` is the confidence below which the service would not answer.
    """
    counted = [record for record in records if record.counts]
    owns = [_own_ms(record) for record in counted if record.stages_ms]
    return Summary(
        questions=len(records),
        counted=len(counted),
        gold_failed=tuple(
            (record.id, record.gold_error) for record in records if not record.counts
        ),
        gold_empty=sum(_is_gold_empty(record) for record in counted),
        errors=tuple((record.id, record.reason) for record in counted if record.outcome == "error"),
        outcomes=_count_outcomes(counted),
        accuracy=_mean(counted, lambda record: record.correct),
        executes=_mean(counted, lambda record: record.outcome in ("answered", "clarify")),
        first=_mean(counted, is_first_correct),
        majority=_mean(counted, is_majority_correct) if has_groups(counted) else None,
        chosen=_mean(counted, is_vote_correct),
        judged=_mean(counted, lambda record: record.accepted),
        oracle=_mean(
            counted, lambda record: any(candidate.correct for candidate in record.candidates)
        ),
        by_difficulty=_measure_groups(counted, _difficulty, _difficulty_rank),
        by_database=_measure_groups(counted, lambda record: record.database),
        repairs=_count_by(counted, lambda repair: (repair.method,)),
        repair_rules=_count_by(counted, lambda repair: repair.rules),
        repair_classes=_count_by(counted, lambda repair: (repair.error_class,)),
        confidence=measure_confidence(counted, threshold),
        stages_ms=measure_stages(record.stages_ms for record in counted),
        own_ms=measure_percentiles(owns),
        seconds=measure_percentiles([record.seconds for record in counted]),
        prompt_tokens=average([record.prompt_tokens for record in counted]),
        completion_tokens=average([record.completion_tokens for record in counted]),
        questions_per_minute=len(counted) / seconds * 60 if seconds else 0.0,
    )


# -- right or wrong ----------------------------------------------------------------------------


def _mean(records: Iterable[QuestionRecord], score: _Score) -> Estimate:
    return estimate([float(score(record)) for record in records])


def _is_gold_empty(record: QuestionRecord) -> bool:
    """True for a gold result without rows. A record without columns has no gold result."""
    return bool(record.gold_result.columns) and record.gold_result.rows_in_all == 0


def _count_outcomes(records: Iterable[QuestionRecord]) -> dict[str, int]:
    counts = Counter(record.outcome for record in records)
    return {name: counts[name] for name in dict.fromkeys((*_OUTCOMES, *counts)) if counts[name]}


# -- by group ----------------------------------------------------------------------------------


def _measure_groups(
    records: Iterable[QuestionRecord],
    name_of: Callable[[QuestionRecord], str],
    rank: Callable[[str], int] = lambda name: 0,
) -> dict[str, Estimate]:
    """Accuracy by group, in the order of ``rank``, then of the names."""
    groups: dict[str, list[QuestionRecord]] = {}
    for record in records:
        groups.setdefault(name_of(record), []).append(record)
    return {
        name: _mean(groups[name], lambda record: record.correct)
        for name in sorted(groups, key=lambda name: (rank(name), name))
    }


def _difficulty(record: QuestionRecord) -> str:
    return record.difficulty or _UNRATED


def _difficulty_rank(name: str) -> int:
    known = {word: rank for rank, words in enumerate(_DIFFICULTIES) for word in words}
    unknown = len(_DIFFICULTIES)
    return unknown + 1 if name == _UNRATED else known.get(name.lower(), unknown)


# -- repair ------------------------------------------------------------------------------------


def _count_by(
    records: Iterable[QuestionRecord], names_of: Callable[[RepairRecord], Iterable[str]]
) -> dict[str, RepairFigures]:
    """The figures by the names of a repair; one with several names counts for each of them."""
    groups: dict[str, list[RepairRecord]] = defaultdict(list)
    for record in records:
        for repair in record.repairs:
            for name in filter(None, names_of(repair)):
                groups[name].append(repair)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return {name: _build_repair_figures(repairs) for name, repairs in ordered}


def _build_repair_figures(repairs: Sequence[RepairRecord]) -> RepairFigures:
    return RepairFigures(
        tried=len(repairs),
        fixed=sum(repair.outcome == "fixed" for repair in repairs),
        corrected=sum(repair.correct_after and not repair.correct_before for repair in repairs),
        broken=sum(repair.correct_before and not repair.correct_after for repair in repairs),
    )


# -- time and tokens ---------------------------------------------------------------------------


def _own_ms(record: QuestionRecord) -> float:
    return sum(ms for name, ms in record.stages_ms.items() if name not in MODEL_STAGES)
