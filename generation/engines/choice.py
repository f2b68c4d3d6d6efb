"""Chooses the engine and number format for this machine's GPU and processor."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from generation.models.registry import default_model
from nl2sql.settings import ModelSettings

_CPU_INFO = Path("/proc/cpuinfo")
# The devices of NVIDIA's and AMD's drivers.
_GPU_DEVICES = (Path("/dev/nvidia0"), Path("/dev/kfd"))
# NVIDIA's driver lists the GPUs here.
_GPU_INFO = Path("/proc/driver/nvidia/gpus")
_BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})

INSTALL_VLLM = "pip install 'quorumsql[vllm]'; in a checkout on a CPU: make install-vllm."
"""The hint for a missing vLLM."""


def resolve_model(settings: ModelSettings, *, on_gpu: bool) -> ModelSettings:
    """The settings with ``auto`` replaced by an engine and its default model.

    The engine is vLLM if it is installed and there is a GPU, or else OpenVINO. Resolved once and
    passed on, so that all stages use the same model.

    >>> chosen = resolve_model(ModelSettings(), on_gpu=False)
    >>> chosen.engine, chosen.name
    ('openvino', 'qwen2.5-coder-0.5b-instruct')
    """
    if settings.is_remote:
        return settings
    engine, name = settings.engine, settings.name
    if engine == "auto":
        engine = "vllm" if on_gpu and find_spec("vllm") is not None else "openvino"
    if name == "auto":
        name = default_model(has_gpu=on_gpu and engine == "vllm")
    return settings.model_copy(update={"engine": engine, "name": name})


def choose_engine(settings: ModelSettings) -> str:
    """The engine that runs the model on this machine."""
    return resolve_model(settings, on_gpu=has_gpu()).engine


def has_gpu() -> bool:
    """Whether this machine has a GPU; does not import a library, which would take seconds."""
    return any(device.exists() for device in _GPU_DEVICES)


def read_gpu_names(gpu_info: Path = _GPU_INFO) -> tuple[str, ...]:
    """The names of the NVIDIA GPUs according to the driver's files."""
    texts = (file.read_text() for file in sorted(gpu_info.glob("*/information")))
    lines = (line.partition(":") for text in texts for line in text.splitlines())
    return tuple(name.strip() for key, _, name in lines if key == "Model")


@cache
def read_cpu_flags(cpu_info: Path = _CPU_INFO) -> frozenset[str]:
    """The instruction sets of this processor by Linux's names; empty if they are unknown."""
    try:
        lines = cpu_info.read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(flag for line in lines if line.startswith("flags") for flag in line.split())


def choose_cpu_dtype(flags: frozenset[str]) -> str:
    """The number format for vLLM: bfloat16 only if the processor has instructions for it.

    With AVX2 alone, torch multiplies bfloat16 at 18 GFLOPS and float32 at 103.

    >>> choose_cpu_dtype(frozenset({"avx2"})), choose_cpu_dtype(frozenset({"avx512_bf16"}))
    ('float32', 'bfloat16')
    """
    return "bfloat16" if flags & _BFLOAT16_FLAGS else "float32"
