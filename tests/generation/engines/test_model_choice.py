"""Which engine and model ``auto`` mean here, and how fast this machine and an engine are."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from generation.engines.choice import read_gpu_names
from generation.engines.model_choice import (
    MachineSpeed,
    choose_cpu_model,
    choose_model,
    describe_choice,
    find_machine_speed,
    measure_machine,
    resolve_model,
)
from generation.engines.speed import measure_speed
from generation.models.registry import load_registry
from nl2sql.settings import ModelSettings
from nl2sql.speed import MEASURED_K
from ranking.confidence.calibration import load_calibration
from tests.fakes import FakeEngine

SMALL, LARGE = "qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct"
FAST = MachineSpeed("", prompt_ms=3.0, step_ms=40.0)
MUCH = 64 * 2**30


def measure(machine: str) -> MachineSpeed:
    return MachineSpeed(machine, FAST.prompt_ms, FAST.step_ms)


@pytest.mark.parametrize(
    ("speed", "memory_bytes", "name"),
    [
        (FAST, MUCH, LARGE),
        (MachineSpeed("", 6.0, 80.0), MUCH, SMALL),
        (FAST, 6 * 2**30, SMALL),
        (MachineSpeed("", 600.0, 800.0), 2**30, SMALL),
    ],
    ids=["fast", "slow", "little memory", "neither"],
)
def test_the_largest_that_is_fast_enough_and_fits(
    speed: MachineSpeed, memory_bytes: int, name: str
) -> None:
    assert choose_model(load_registry().values(), speed, memory_bytes).name == name


def test_the_speed_is_measured_once_for_each_machine(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    measured: list[str] = []

    def count(machine: str) -> MachineSpeed:
        measured.append(machine)
        return measure(machine)

    assert find_machine_speed(folder) is None
    assert choose_cpu_model(folder, count) == choose_cpu_model(folder, count)
    (machine,) = measured
    file = folder / "speed.json"
    file.write_text(file.read_text().replace(machine, "another one"))
    choose_cpu_model(folder, count)
    file.write_text("nonsense")
    choose_cpu_model(folder, count)
    assert measured == [machine] * 3


def test_a_machine_that_was_busy_when_it_was_measured_is_measured_again(tmp_path: Path) -> None:
    busy = MachineSpeed("", 28.0, 470.0)
    assert choose_cpu_model(tmp_path, lambda machine: replace(busy, machine=machine)).name == SMALL
    assert choose_cpu_model(tmp_path, measure).name == SMALL
    an_hour_ago = time.time() - 4000
    os.utime(tmp_path / "speed.json", (an_hour_ago, an_hour_ago))
    assert choose_cpu_model(tmp_path, measure).name == LARGE
    os.utime(tmp_path / "speed.json", (an_hour_ago, an_hour_ago))
    # What is fast enough for the largest is not measured again.
    assert choose_cpu_model(tmp_path, lambda machine: replace(busy, machine=machine)).name == LARGE


def test_it_is_said_what_the_next_larger_would_cost(tmp_path: Path) -> None:
    assert describe_choice(tmp_path, SMALL) == ""
    choose_cpu_model(tmp_path, measure)
    told = describe_choice(tmp_path, SMALL)
    assert told.startswith(f"{SMALL} takes about 2 s for a question; {LARGE} takes about 7 s")
    assert describe_choice(tmp_path, "something else") == ""


def test_whatever_auto_chooses_has_a_calibration() -> None:
    sized = [entry.name for entry in load_registry().values() if entry.billions]
    assert all(load_calibration("auto", name) is not None for name in sized)


def test_only_auto_is_replaced(tmp_path: Path) -> None:
    choose_cpu_model(tmp_path, measure)
    chosen = resolve_model(ModelSettings(), tmp_path, on_gpu=False)
    assert chosen.engine == "openvino"
    assert chosen.name in (SMALL, LARGE)
    named = ModelSettings(engine="vllm", name="org/model")
    assert resolve_model(named, tmp_path, on_gpu=False) == named
    on_gpu = resolve_model(ModelSettings(engine="vllm"), tmp_path, on_gpu=True)
    assert on_gpu.name == "qwen2.5-coder-7b-instruct"


def test_this_machine_can_be_measured() -> None:
    speed = measure_machine("this one")
    assert speed.machine == "this one"
    assert min(speed.prompt_ms, speed.step_ms) > 0


def test_the_driver_names_the_gpus(tmp_path: Path) -> None:
    assert read_gpu_names(tmp_path / "none") == ()
    for number, name in enumerate(("NVIDIA H200", "NVIDIA L4")):
        folder = tmp_path / f"0000:0{number}:00.0"
        folder.mkdir()
        (folder / "information").write_text(f"Model: \t\t {name}\nIRQ:   \t\t 16\n")
    assert read_gpu_names(tmp_path) == ("NVIDIA H200", "NVIDIA L4")


async def test_no_prompt_is_in_a_cache_but_the_one_that_is_answered() -> None:
    answers = (["1"], ["1"], ["1"] * MEASURED_K)
    first, second = FakeEngine(*answers), FakeEngine(*answers)
    for engine in (first, second):
        await measure_speed(engine.sample)
    prompts = [request.prompt.messages[0].content for request in first.requests + second.requests]
    assert len(set(prompts)) == 4
    warm, read, answered = first.requests
    assert (warm.k, read.k, answered.k) == (1, 1, MEASURED_K)
    assert read.prompt == answered.prompt
