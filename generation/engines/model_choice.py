"""Which registered model ``model.name: auto`` means on a machine without a GPU.

The largest that answers the usual question in ten seconds and that fits the memory; the smallest
where none does. The machine's speed is measured before any weights are here: a few layers of the
size of a small model's are timed, in the form and with the settings in which OpenVINO runs models.
Both figures grow with the number of parameters, so that one measurement, of about three seconds,
holds for every model. The fastest of several times counts, because other load makes the machine
slower than it is; for the same reason, where a larger model would fit the memory, the machine is
measured again after an hour, and the faster figures are kept.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from generation.engines.choice import (
    choose_engine,
    choose_properties,
    read_cpu_flags,
    read_cpu_name,
)
from generation.engines.openvino_model import measure_memory
from generation.engines.openvino_server import check_package, check_processor
from generation.models.registry import ModelEntry, default_gpu_model, load_registry
from nl2sql.settings import ModelSettings

MOST_SECONDS = 10.0
"""The longest time of the usual question, in seconds."""

# Of the machine's memory, the share that weights may take: the rest is for the key-value cache, the
# databases and whatever else runs.
_MEMORY_SHARE = 0.25
_BYTES_A_BILLION = 1.3e9
_FILE = "speed.json"
# Those of Qwen2.5's 1.5B, of which eight are larger than any processor's cache.
_WIDTH, _INNER_WIDTH, _PAIRS = 1536, 8960, 8
_BILLIONS = 2 * _WIDTH * _INNER_WIDTH * _PAIRS / 1e9
_PROMPT_ROWS, _ANSWER_ROWS = 256, 8
_TIMES = 8
_MEASURE_AGAIN_S = 3600.0
# A step of a whole model takes longer than its matrices: attention, sampling, the passage of tokens
# (docs/measurements.md).
_STEP_FACTOR = 1.3
# The usual question on a database with prepared beginnings: tokens of the prompt that are not in
# the cache, and steps of eight answers at a time. Medians of the demo's questions.
_PROMPT_TOKENS, _STEPS = 450, 75


@dataclass(frozen=True, slots=True)
class MachineSpeed:
    """Milliseconds for a billion parameters: a token of the prompt, and a step of eight answers."""

    machine: str
    prompt_ms: float
    step_ms: float

    def estimate_seconds(self, billions: float) -> float:
        """Seconds for the usual question with a model of that many billion parameters.

        >>> MachineSpeed("", prompt_ms=4.0, step_ms=40.0).estimate_seconds(1.5)
        7.2
        """
        return round((_PROMPT_TOKENS * self.prompt_ms + _STEPS * self.step_ms) * billions / 1e3, 1)

    def at_best(self, other: MachineSpeed) -> MachineSpeed:
        """The faster figure of each kind."""
        return MachineSpeed(
            self.machine, min(self.prompt_ms, other.prompt_ms), min(self.step_ms, other.step_ms)
        )

    def keep(self, folder: Path) -> None:
        """Writes it into the folder, if that can be written."""
        with suppress(OSError):  # such as a folder that is mounted read-only
            folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps(asdict(self), indent=1)
            (folder / _FILE).write_text(f"{text}\n", encoding="utf-8")


def find_machine_speed(folder: Path) -> MachineSpeed | None:
    """The speed that was measured on this processor and with this number of cores."""
    try:
        speed = MachineSpeed(**json.loads((folder / _FILE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return speed if speed.machine == _name_machine() else None


def _age_s(file: Path) -> float:
    """Seconds since the file was written; 0 if it is gone."""
    with suppress(OSError):
        return time.time() - file.stat().st_mtime
    return 0.0


def _name_machine() -> str:
    return f"{read_cpu_name()}, {len(os.sched_getaffinity(0))} cores"


def measure_machine(machine: str) -> MachineSpeed:
    """Measures this machine, in about three seconds."""
    request = _compile().create_infer_request()
    prompt_s = _time(request, _PROMPT_ROWS) / _PROMPT_ROWS
    step_s = _time(request, _ANSWER_ROWS) * _STEP_FACTOR
    return MachineSpeed(
        machine, round(prompt_s * 1e3 / _BILLIONS, 3), round(step_s * 1e3 / _BILLIONS, 1)
    )


def _compile() -> Any:
    """Layers with 8-bit weights, each of which takes what the one before it gives."""
    import numpy as np
    import openvino
    from openvino import opset13 as operations

    some = np.random.default_rng(0).integers(-127, 128, 100_003, dtype=np.int8)
    start = last = operations.parameter([-1, _WIDTH], openvino.Type.f32)
    for _ in range(_PAIRS):
        for rows, columns in ((_INNER_WIDTH, _WIDTH), (_WIDTH, _INNER_WIDTH)):
            weights = operations.constant(np.resize(some, (rows, columns)))
            scale = operations.constant(np.full((rows, 1), 1e-3, np.float16))
            unpacked = operations.multiply(operations.convert(weights, "f16"), scale)
            last = operations.matmul(last, operations.convert(unpacked, "f32"), False, True)
    model = openvino.Model([operations.result(last)], [start], "layers")
    properties = choose_properties(read_cpu_flags(), len(os.sched_getaffinity(0)))
    return openvino.Core().compile_model(model, "CPU", properties)


def _time(request: Any, rows: int) -> float:
    """Seconds for ``rows`` tokens, the least of several times."""
    import numpy as np

    values = np.ones((rows, _WIDTH), np.float32)
    request.infer({0: values})
    seconds = []
    for _ in range(_TIMES):
        start = time.perf_counter()
        request.infer({0: values})
        seconds.append(time.perf_counter() - start)
    return min(seconds)


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What a model would cost here: seconds for the usual question, and whether it fits."""

    name: str
    seconds: float
    fits: bool

    @property
    def is_fast_enough(self) -> bool:
        """Whether the usual question is answered in time."""
        return self.seconds <= MOST_SECONDS

    def __str__(self) -> str:
        room = "" if self.fits else ", and needs more memory"
        return f"{self.name} takes about {self.seconds:.0f} s for a question{room}"


def resolve_model(settings: ModelSettings, folder: Path, *, on_gpu: bool) -> ModelSettings:
    """The settings with ``auto`` replaced by an engine and a model.

    ``folder`` keeps the measured speed. Resolved once and passed on, so that all stages use the
    same model.
    """
    if settings.is_remote:
        return settings
    engine, name = choose_engine(settings, on_gpu=on_gpu), settings.name
    if name == "auto" and engine == "vllm" and on_gpu:
        name = default_gpu_model()
    elif name == "auto":
        name = choose_cpu_model(folder).name
    return settings.model_copy(update={"engine": engine, "name": name})


def choose_cpu_model(
    folder: Path, measure: Callable[[str], MachineSpeed] = measure_machine
) -> ModelEstimate:
    """The model for this machine, whose speed is kept in ``folder``.

    Measures it at first, and hourly as long as a larger model would fit the memory. Raises
    EngineUnavailable if OpenVINO is missing or cannot run here.
    """
    check_package()
    check_processor(read_cpu_flags())
    machine, memory, models = _name_machine(), measure_memory(), load_registry().values()
    speed = find_machine_speed(folder)
    largest = choose_model(models, MachineSpeed(machine, 0.0, 0.0), memory)
    is_slow = speed is not None and choose_model(models, speed, memory).name != largest.name
    if speed is None or (is_slow and _age_s(folder / _FILE) > _MEASURE_AGAIN_S):
        now = measure(machine)
        speed = now.at_best(speed) if speed is not None else now
        speed.keep(folder)
    return choose_model(models, speed, memory)


def describe_choice(folder: Path, name: str) -> str:
    """How the model suits this machine; empty if it or the machine's speed is unknown.

    Measures nothing.
    """
    speed, entries = find_machine_speed(folder), load_registry()
    if speed is None or name not in entries or not entries[name].billions:
        return ""
    estimates = estimate_models(entries.values(), speed, measure_memory())
    at = next(number for number, each in enumerate(estimates) if each.name == name)
    return "; ".join(str(each) for each in estimates[at : at + 2])


def choose_model(
    entries: Iterable[ModelEntry], speed: MachineSpeed, memory_bytes: int
) -> ModelEstimate:
    """The largest that is fast enough and fits, or the smallest."""
    estimates = estimate_models(entries, speed, memory_bytes)
    suitable = [each for each in estimates if each.is_fast_enough and each.fits]
    return suitable[-1] if suitable else estimates[0]


def estimate_models(
    entries: Iterable[ModelEntry], speed: MachineSpeed, memory_bytes: int
) -> list[ModelEstimate]:
    """The estimates of those with a known size, from the smallest on."""
    sized = sorted((entry.billions, entry.name) for entry in entries if entry.billions)
    return [
        ModelEstimate(
            name,
            speed.estimate_seconds(billions),
            billions * _BYTES_A_BILLION <= memory_bytes * _MEMORY_SHARE,
        )
        for billions, name in sized
    ]
