"""How a finished question changes the metrics: a meter over a pipeline of fakes."""

from __future__ import annotations

from collections import defaultdict

from nl2sql.answers import Answered, StageTiming, Trace
from nl2sql.types import Ranking, Repair
from serve_app.service.metrics import (
    CONFIDENCE,
    METRICS,
    Metric,
    measure_question,
)
from tests.conftest import ROOT
from tests.fakes import build_assessment, build_question, build_result, build_violation

GUIDE = ROOT / "docs" / "how-to" / "observability.md"


class FakeMeter:
    """Adds up all values by metric and tags; of gauges it keeps the last."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, ...], float] = defaultdict(float)

    def record(self, metric: Metric, value: float, tags: tuple[str, ...] = ()) -> None:
        """See ``Meter.record``."""
        assert len(tags) == len(metric.tags)
        key = (metric.name.removeprefix("quorumsql_"), *tags)
        self.values[key] = value if metric.kind == "gauge" else self.values[key] + value


def test_an_answer_is_measured_by_its_trace() -> None:
    refused = build_assessment("c2", verdict=build_violation("unknown_table"))
    ranking = Ranking((build_assessment("c1", rows=[(1,)]), refused), samples=2, confidence=0.8)
    trace = Trace(
        build_question(),
        ranking=ranking,
        repairs=(
            Repair("c2", "broken", "normalize", "fixed", "SELECT 1", ("casts", "dates")),
            Repair("c3", "broken", "model", "none"),
        ),
        timings=(StageTiming("plan", 250.0), StageTiming("generate", 1500.0, 100, 20)),
    )
    answer = Answered("SELECT 1", build_result((1,)), 0.8, True, trace)
    meter = FakeMeter()
    for change in measure_question("answered", "shop", 2.0, answer):
        meter.record(*change)
    assert meter.values == {
        ("questions", "answered", "shop"): 1,
        ("question_seconds", "answered", "shop"): 2.0,
        ("stage_seconds", "plan"): 0.25,
        ("stage_seconds", "generate"): 1.5,
        ("tokens", "prompt"): 100,
        ("tokens", "completion"): 20,
        ("candidates", "accepted"): 1,
        ("candidates", "refused"): 1,
        ("guard_refusals", "unknown_table"): 1,
        ("repairs", "normalize", "casts", "fixed"): 1,
        ("repairs", "normalize", "dates", "fixed"): 1,
        ("repairs", "model", "", "none"): 1,
        ("confidence", "answered"): 0.8,
    }


def test_names_are_unique_and_tags_are_not_those_of_ray() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    reserved = {"deployment", "replica", "application", "route"}
    assert all(reserved.isdisjoint(metric.tags) for metric in METRICS)
    assert CONFIDENCE.boundaries[-1] == 1.0


def test_the_guide_lists_every_metric_with_its_tags() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    for metric in METRICS:
        tags = ", ".join(f"`{tag}`" for tag in metric.tags)
        assert f"| `{metric.name}` | {metric.kind} | {tags} |" in guide
