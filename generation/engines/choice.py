"""Chooses engine, model, number format and properties for this machine's GPU and processor."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from generation.models.registry import ModelEntry, default_gpu_model, load_registry
from nl2sql.errors import EngineUnavailable
from nl2sql.settings import ModelSettings

_CPU_INFO = Path("/proc/cpuinfo")
_CONTAINER = Path("/sys/fs/cgroup")
# The devices of NVIDIA's and AMD's drivers.
_GPU_DEVICES = (Path("/dev/nvidia0"), Path("/dev/kfd"))
# NVIDIA's driver lists the GPUs here.
_GPU_INFO = Path("/proc/driver/nvidia/gpus")
_BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})
# The longest time of the usual question, in seconds: 450 tokens of the prompt that are not in the
# cache, and 75 steps of eight answers at a time. Medians of the demo's questions.
_MOST_SECONDS = 10.0
# What it takes for a billion parameters, in seconds of one core, with the best of these
# instructions, or with AVX2 alone (docs/measurements.md#engines).
_CORE_SECONDS = (("avx512_bf16", 8.0), ("amx_bf16", 8.0), ("avx512_vnni", 20.0))
_AVX2_CORE_SECONDS = 33.0
# Of the machine's memory, the share that weights may take: the rest is for the key-value cache, the
# databases and whatever else runs.
_MEMORY_SHARE = 0.25
_BYTES_A_BILLION = 1.3e9

INSTALL_VLLM = "pip install 'quorumsql[vllm]'; in a checkout on a CPU: make install-vllm."
"""The hint for a missing vLLM."""


def choose_engine(settings: ModelSettings, *, on_gpu: bool | None = None) -> str:
    """The engine; ``auto`` is vLLM if it is installed and there is a GPU, or else OpenVINO.

    ``on_gpu`` is that of this machine if it is None.

    >>> choose_engine(ModelSettings(), on_gpu=False)
    'openvino'
    """
    if settings.engine != "auto":
        return settings.engine
    if on_gpu is None:
        on_gpu = has_gpu()
    return "vllm" if on_gpu and find_spec("vllm") is not None else "openvino"


def resolve_model(settings: ModelSettings, *, on_gpu: bool) -> ModelSettings:
    """The settings with ``auto`` replaced by an engine and a model.

    Resolved once and passed on, so that all stages use the same model. Raises EngineUnavailable if
    there is no GPU and OpenVINO cannot run here.
    """
    if settings.is_remote:
        return settings
    engine, name = choose_engine(settings, on_gpu=on_gpu), settings.name
    if name == "auto" and engine == "vllm" and on_gpu:
        name = default_gpu_model()
    elif name == "auto":
        flags = read_cpu_flags()
        check_processor(flags)
        entries = load_registry().values()
        name = choose_cpu_model(entries, flags, count_cores(), measure_memory())
    return settings.model_copy(update={"engine": engine, "name": name})


def choose_cpu_model(
    entries: Iterable[ModelEntry], flags: frozenset[str], cores: int, memory_bytes: int
) -> str:
    """The largest model that answers in time and fits the memory; the smallest where none does."""
    known = (seconds for flag, seconds in _CORE_SECONDS if flag in flags)
    core_s = next(known, _AVX2_CORE_SECONDS)
    sized = sorted((entry.billions, entry.name) for entry in entries if entry.billions)
    suitable = [
        name
        for billions, name in sized
        if billions * core_s / cores <= _MOST_SECONDS
        and billions * _BYTES_A_BILLION <= memory_bytes * _MEMORY_SHARE
    ]
    return suitable[-1] if suitable else sized[0][1]


def check_processor(flags: frozenset[str]) -> None:
    """Raises EngineUnavailable if the processor is too old for OpenVINO's fast kernels."""
    if flags and "avx2" not in flags:
        raise EngineUnavailable(
            "This processor has no AVX2, without which OpenVINO has no fast kernels.",
            hint="Set model.engine to openai, with the address of a server on another machine.",
        )


def has_gpu() -> bool:
    """Whether this machine has a GPU; does not import a library, which would take seconds."""
    return any(device.exists() for device in _GPU_DEVICES)


def read_gpu_names(gpu_info: Path = _GPU_INFO) -> tuple[str, ...]:
    """The names of the NVIDIA GPUs according to the driver's files."""
    texts = (file.read_text() for file in sorted(gpu_info.glob("*/information")))
    lines = (line.partition(":") for text in texts for line in text.splitlines())
    return tuple(name.strip() for key, _, name in lines if key == "Model")


def count_cores(container: Path = _CONTAINER) -> int:
    """The cores that this process may use, within the limits of machine and cgroup."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = map(int, (container / "cpu.max").read_text().split())
    except (OSError, ValueError):  # no such file, or the word "max"
        return cores
    return max(1, min(cores, quota // period))


def measure_memory(container: Path = _CONTAINER) -> int:
    """The bytes of memory of this machine, or of its cgroup."""
    total: int = psutil.virtual_memory().total
    try:
        return min(total, int((container / "memory.max").read_text()))
    except (OSError, ValueError):  # no such file, or the word "max"
        return total


@cache
def read_cpu_flags() -> frozenset[str]:
    """The instruction sets of this processor by Linux's names; empty if they are unknown.

    Without those that oneDNN's ``ONEDNN_MAX_CPU_ISA`` forbids: OpenVINO asks for them all the same,
    and its engine dies.
    """
    flags = frozenset(flag for line in _read_cpu_info("flags") for flag in line.split())
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA", "").upper()
    if limit.startswith("AVX2"):
        return frozenset(flag for flag in flags if not flag.startswith(("avx512", "amx")))
    return flags - _BFLOAT16_FLAGS if limit else flags


def read_cpu_name() -> str:
    """The processor's name; its architecture if the system does not tell."""
    return next(iter(_read_cpu_info("model name")), "") or platform.machine()


def _read_cpu_info(key: str) -> list[str]:
    """What Linux says of each processor under the key; nothing on other systems."""
    try:
        lines = _CPU_INFO.read_text().splitlines()
    except OSError:
        return []
    return [line.partition(":")[2].strip() for line in lines if line.startswith(key)]


def choose_properties(flags: frozenset[str], threads: int) -> dict[str, Any]:
    """OpenVINO's properties for a processor with these instructions.

    Without AVX-512 it has no kernels for quantised activations on our weights.

    >>> choose_properties(frozenset({"avx2", "avx512f", "avx512_bf16"}), threads=2)
    {'INFERENCE_NUM_THREADS': 2}
    """
    properties: dict[str, Any] = {"INFERENCE_NUM_THREADS": threads}
    if not flags & _BFLOAT16_FLAGS:
        properties["INFERENCE_PRECISION_HINT"] = "f32"
    if "avx512f" not in flags:
        properties["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = 0
    return properties


def choose_cpu_dtype(flags: frozenset[str]) -> str:
    """The number format for vLLM: bfloat16 only if the processor has instructions for it.

    With AVX2 alone, torch multiplies bfloat16 at 18 GFLOPS and float32 at 103.

    >>> choose_cpu_dtype(frozenset({"avx2"})), choose_cpu_dtype(frozenset({"avx512_bf16"}))
    ('float32', 'bfloat16')
    """
    return "bfloat16" if flags & _BFLOAT16_FLAGS else "float32"
