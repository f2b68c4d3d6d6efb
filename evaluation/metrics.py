"""What a run amounts to: accuracy with an interval, share that executes, seconds, stages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from nl2sql.intervals import wilson_interval


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one example. ``gold_error`` is set when the gold query itself failed."""

    id: str
    outcome: str
    executes: bool
    correct: bool
    seconds: float
    difficulty: str = ""
    sql: str = ""
    gold_error: str = ""
    gold_rows: int = 0
    stages: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures over all outcomes whose gold query ran. Seconds and milliseconds are wall time."""

    questions: int
    correct: int
    executed: int
    gold_failed: int
    gold_empty: int
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    seconds_p50: float
    seconds_p95: float
    stages_ms: dict[str, tuple[float, float]]
    own_ms_p50: float
    own_ms_p95: float


# The model's share of a question; everything else is the pipeline's own time.
_MODEL_STAGES = frozenset({"generate", "repair"})


def summarize(outcomes: Sequence[Outcome]) -> Summary:
    """The figures of one run; ``accuracy_low``/``high`` is the 95 % Wilson interval."""
    valid = [each for each in outcomes if not each.gold_error]
    correct = sum(each.correct for each in valid)
    low, high = wilson_interval(correct, len(valid))
    names = dict.fromkeys(name for each in valid for name in each.stages)
    stages = {name: [each.stages[name] for each in valid if name in each.stages] for name in names}
    own = [
        sum(ms for name, ms in each.stages.items() if name not in _MODEL_STAGES)
        for each in valid
        if each.stages
    ]
    seconds = [each.seconds for each in valid]
    return Summary(
        questions=len(valid),
        correct=correct,
        executed=sum(each.executes for each in valid),
        gold_failed=len(outcomes) - len(valid),
        gold_empty=sum(each.gold_rows == 0 for each in valid),
        accuracy=correct / len(valid) if valid else 0.0,
        accuracy_low=low,
        accuracy_high=high,
        seconds_p50=percentile(seconds, 50),
        seconds_p95=percentile(seconds, 95),
        stages_ms={name: (percentile(ms, 50), percentile(ms, 95)) for name, ms in stages.items()},
        own_ms_p50=percentile(own, 50),
        own_ms_p95=percentile(own, 95),
    )


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least ``percent`` of all are not above (nearest rank).

    >>> percentile([1.0, 2.0, 3.0, 4.0], 50), percentile([], 50)
    (2.0, 0.0)
    """
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]
