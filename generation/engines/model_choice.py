"""Which registered model ``model.name: auto`` means on a machine without a GPU.

The largest that answers the usual question in ten seconds and that fits the memory, by the speed
that ``machine_speed.py`` measured; the smallest where none does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from generation.engines.choice import choose_engine, read_cpu_flags
from generation.engines.machine_speed import (
    MachineSpeed,
    find_machine_speed,
    measure_machine,
    read_machine_speed,
)
from generation.engines.openvino_checks import measure_memory
from generation.engines.openvino_server import check_package, check_processor
from generation.models.registry import ModelEntry, default_gpu_model, load_registry
from nl2sql.settings import ModelSettings

MOST_SECONDS = 10.0
"""The longest time of the usual question, in seconds."""

# Of the machine's memory, the share that weights may take: the rest is for the key-value cache, the
# databases and whatever else runs.
_MEMORY_SHARE = 0.25
_BYTES_A_BILLION = 1.3e9


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
    """The model for this machine, whose speed is kept in ``folder``; measures it at first.

    Raises EngineUnavailable if OpenVINO is missing or cannot run here.
    """
    check_package()
    check_processor(read_cpu_flags())
    speed = read_machine_speed(folder, measure)
    return choose_model(load_registry().values(), speed, measure_memory())


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
