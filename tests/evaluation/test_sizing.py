"""The sizing simulation against queueing theory, the service's admission, and its own rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

from evaluation.runs.records import RepairRecord
from evaluation.sizing.inputs import (
    EngineProfile,
    QuestionCost,
    SamplingCost,
    build_workload,
    draw_arrivals,
    read_demo,
    read_profile,
)
from evaluation.sizing.search import Targets, find_smallest, predict
from evaluation.sizing.simulation import (
    Clock,
    Deployment,
    SharedServer,
    SimulatedEngine,
    simulate,
)
from nl2sql.errors import SettingsError
from serve_app.service.admission import Load
from tests.evaluation.builders import build_record

Start = Callable[[Clock, float, Callable[[], None]], None]

PROFILE = EngineProfile(
    name="test",
    source="a test",
    prompt_tokens_per_s=1000,
    cached_share=0.5,
    step_ms={1: 10, 5: 20},
    max_sequences=8,
    kv_tokens=10_000,
)
SLOW_GPU = EngineProfile(
    name="a slow GPU",
    source="a test",
    prompt_tokens_per_s=4000,
    cached_share=0.4,
    step_ms={1: 21.9, 8: 22.3, 64: 27.5, 128: 36.0, 256: 53.1},
    kv_tokens=450_000,
)
DEMO = read_demo(cpu_before_ms=49, cpu_after_ms=57, database_ms=20)


def time_jobs(load: float, seconds: Sequence[float], start: Start) -> float:
    """The mean seconds that jobs take which come as a Poisson process, ``load`` a second."""
    clock, spent = Clock(), list[float]()

    def arrive(job: float) -> None:
        came = clock.now
        start(clock, job, lambda: spent.append(clock.now - came))

    arrivals = draw_arrivals(60 * load, len(seconds) / load)
    for time, job in zip(arrivals, seconds, strict=False):
        clock.schedule(time, partial(arrive, job))
    clock.run()
    return fmean(spent)


def start_in_engine(profile: EngineProfile) -> Start:
    """Jobs are requests without a prompt; a token takes a second."""
    engines: list[SimulatedEngine] = []

    def start(clock: Clock, job: float, done: Callable[[], None]) -> None:
        if not engines:
            engines.append(SimulatedEngine(clock, profile))
        engines[0].sample(SamplingCost(0, job, 1), done)

    return start


def start_in_processor() -> Start:
    processors: list[SharedServer] = []

    def start(clock: Clock, job: float, done: Callable[[], None]) -> None:
        if not processors:
            processors.append(SharedServer(clock, lambda jobs: 1 / jobs))
        processors[0].add(job, done)

    return start


def draw_exponential(count: int = 30_000) -> list[float]:
    random = Random(1)
    drawn = [random.expovariate(1.0) for _ in range(count)]
    mean = fmean(drawn)
    return [seconds / mean for seconds in drawn]


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_engine_with_one_place_is_an_mm1_queue(load: float) -> None:
    profile = PROFILE.model_copy(update={"max_requests": 1, "step_ms": {1: 1000.0}})

    mean_s = time_jobs(load, draw_exponential(), start_in_engine(profile))

    assert mean_s == pytest.approx(1 / (1 - load), rel=0.05)


@pytest.mark.parametrize("seconds", [draw_exponential(), [1.0] * 30_000], ids=["M", "D"])
def test_processor_is_mg1_with_processor_sharing(seconds: Sequence[float]) -> None:
    """Its mean depends on the mean service time alone: E[S] / (1 - load)."""
    mean_s = time_jobs(0.7, seconds, start_in_processor())

    assert mean_s == pytest.approx(1 / 0.3, rel=0.05)


def test_prompt_is_read_once_and_answers_share_the_steps() -> None:
    clock, ends = Clock(), list[float]()
    engine = SimulatedEngine(clock, PROFILE)

    # Half of 200 tokens is cached: 0.1 s; four sequences of 10 tokens at 17.5 ms.
    engine.sample(SamplingCost(200, 10.0, 4), lambda: ends.append(clock.now))
    clock.run()

    assert ends == pytest.approx([0.1 + 10 * 0.0175])


@pytest.mark.parametrize(
    "limits", [{"max_sequences": 4}, {"kv_tokens": 250}, {"max_requests": 1}], ids=str
)
def test_request_without_room_waits(limits: dict[str, int]) -> None:
    profile = PROFILE.model_copy(update=limits)
    clock, ends = Clock(), list[float]()
    engine = SimulatedEngine(clock, profile)

    for _ in range(2):
        engine.sample(SamplingCost(200, 10.0, 4), lambda: ends.append(clock.now))
    clock.run()

    alone = 0.1 + 10 * 0.0175
    assert ends == pytest.approx([alone, 2 * alone])


def deploy(replicas: int, engines: int) -> Deployment:
    return Deployment(replicas, engines, SLOW_GPU, lambda: Load(5.0))


@pytest.mark.parametrize("per_minute", [60, 3000])
def test_every_question_is_answered_or_refused(per_minute: float) -> None:
    found = simulate(deploy(2, 2), DEMO, draw_arrivals(per_minute, 60), principals=30)

    assert found.answered + found.refused == found.asked
    assert (found.refused > 0) == (per_minute == 3000)
    assert found.refused_share <= 1


def test_search_finds_the_smallest_deployment() -> None:
    targets = Targets(p95_s=10.0)

    found = find_smallest(600, targets, deploy(1, 1), DEMO)

    one = found.deployment
    assert targets.are_met(found.prediction)
    assert one.engines > 1
    assert not targets.are_met(predict(600, replace(one, engines=one.engines - 1), DEMO).prediction)
    fewer = replace(one, replicas=one.replicas - 1)
    assert not fewer.replicas or not targets.are_met(predict(600, fewer, DEMO).prediction)


def test_target_below_the_idle_latency_is_an_error() -> None:
    with pytest.raises(SettingsError, match="One question at a time already has a p95 of"):
        find_smallest(60, Targets(p95_s=1.0), deploy(1, 1), DEMO)


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

    assert by_rule == QuestionCost(0.04, SamplingCost(800, 30.0, 4), 0.011, 0.002)
    assert by_model == QuestionCost(0.04, SamplingCost(800, 40.0, 3), 0.006, 0.002)
