"""The estimates of sizing against queueing theory and sums by hand, and their inputs."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from evaluation.runs.records import RepairRecord
from evaluation.sizing.estimate import find_smallest, predict
from evaluation.sizing.inputs import (
    EngineProfile,
    QuestionCost,
    build_workload,
    read_demo,
    read_profile,
)
from nl2sql.errors import SettingsError
from tests.evaluation.builders import build_record

PROFILE = EngineProfile(
    name="test",
    source="a test",
    prompt_tokens_per_s=1000,
    cached_share=0.5,
    step_ms={1: 10, 5: 20},
    max_sequences=8,
    kv_tokens=10_000,
)
DEMO = read_demo(cpu_ms=106, database_ms=20)


def test_idle_service_needs_the_sum_of_its_parts() -> None:
    # Half of 200 tokens is cached: 0.1 s; four sequences of 10 tokens at 17.5 ms.
    cost = QuestionCost(0.05, 200, 10.0, 4, database_s=0.02)

    found = predict(1e-6, 1, 1, PROFILE, (cost,))

    assert found.latency_s(50) == pytest.approx(0.05 + 0.1 + 10 * 0.0175 + 0.02, rel=1e-3)


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_processor_is_mg1_with_processor_sharing(load: float) -> None:
    """Its mean is E[S] / (1 - load)."""
    found = predict(60 * load, 1, 1, PROFILE, (QuestionCost(1.0, 1, 0.0, 1),))

    assert found.cpu_share == pytest.approx(load)
    assert fmean(found.latencies_s) == pytest.approx(1 / (1 - load), rel=0.05)


def test_sequences_follow_littles_law() -> None:
    # Two requests a second, each of four sequences that take 20 steps.
    found = predict(120, 1, 1, PROFILE, (QuestionCost(0.0, 0, 20.0, 4),))

    assert found.batch == pytest.approx(2 * 4 * 20 * PROFILE.step_s(found.batch), rel=1e-3)


@pytest.mark.parametrize(
    ("limits", "share"),
    [
        # As many as 8 sequences write 10 tokens in 0.275 s.
        ({}, 2 * (0.1 + 0.275 / 2)),
        ({"max_sequences": 4}, 2 * (0.1 + 0.175)),
        ({"kv_tokens": 240}, 2 * (0.1 + 0.175)),
    ],
    ids=str,
)
def test_engine_bears_what_has_room(limits: dict[str, int], share: float) -> None:
    profile = PROFILE.model_copy(update=limits)

    found = predict(120, 1, 1, profile, (QuestionCost(0.0, 200, 10.0, 4),))
    beyond = predict(60 / share * 2.1, 1, 1, profile, (QuestionCost(0.0, 200, 10.0, 4),))

    assert found.engine_share == pytest.approx(share)
    assert beyond.engine_share > 1
    assert not beyond.latencies_s
    assert not beyond.meets(1e9)


@pytest.mark.parametrize("per_minute", [60, 2500])
def test_search_finds_the_smallest_deployment(per_minute: float) -> None:
    profile = read_profile("h200-qwen2.5-7b")

    found = find_smallest(per_minute, 3.0, profile, DEMO)

    assert found.meets(3.0)
    for replicas, engines in ((found.replicas - 1, found.engines), (1000, found.engines - 1)):
        if replicas and engines:
            assert not predict(per_minute, replicas, engines, profile, DEMO).meets(3.0)


def test_target_below_the_idle_latency_is_an_error() -> None:
    with pytest.raises(SettingsError, match="One question at a time already has a p95 of"):
        find_smallest(60, 0.5, read_profile("h200-qwen2.5-7b"), DEMO)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a", "source"),
        ("{name: a, speed: 1}", "source"),
        (
            "{name: a, source: b, prompt_tokens_per_s: 1, kv_tokens: 1, step_ms: {1: 5, 2: 4}}",
            "must not be faster",
        ),
    ],
)
def test_invalid_profile_is_an_error(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "engine.yaml"
    path.write_text(text)

    with pytest.raises(SettingsError, match=message):
        read_profile(str(path))
    with pytest.raises(SettingsError, match="no engine profile 'h200'"):
        read_profile("h200")


def test_run_gives_the_costs() -> None:
    stages = {"retrieve": 30.0, "plan": 10.0, "generate": 900.0, "guard": 8.0, "repair": 5.0}
    values: dict[str, Any] = {
        "stages_ms": stages,
        "prompt_tokens": 800,
        "completion_tokens": 120,
        "k": 3,
    }
    repaired = RepairRecord(candidate="c1", cause="", method="model", outcome="")

    by_rule, by_model = build_workload(
        [
            build_record(**values, trace={"wanted": 4}),
            build_record(**values, repairs=(repaired,)),
            build_record(outcome="refused", stages_ms={"gate": 1.0}),
        ],
        database_ms=2.0,
    )

    assert by_rule == QuestionCost(0.051, 800, 30.0, 4, 0.002)
    assert by_model == QuestionCost(0.046, 800, 40.0, 3, 0.002)
