"""Which engine runs the model here, and what this machine's processor multiplies fast."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from generation.models.registry import default_model
from nl2sql.settings import ModelSettings

_CPU_INFO = Path("/proc/cpuinfo")
# Devices of NVIDIA's and AMD's drivers.
_GPU_DEVICES = (Path("/dev/nvidia0"), Path("/dev/kfd"))
# NVIDIA's driver tells here what each GPU is.
_GPU_INFO = Path("/proc/driver/nvidia/gpus")
_BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})

INSTALL_VLLM = "pip install 'quorumsql[vllm]'; in a checkout on a CPU: make install-vllm."
"""What to do where vLLM is wanted and missing."""


def resolve_model(settings: ModelSettings, *, on_gpu: bool) -> ModelSettings:
    """The settings with ``auto`` replaced: vLLM where it is installed and a GPU is there, else
    llama.cpp; and the default model for it.

    What stands behind the stages must agree on the model, so it is resolved once and passed on.

    >>> chosen = resolve_model(ModelSettings(), on_gpu=False)
    >>> chosen.engine, chosen.name
    ('llama.cpp', 'qwen2.5-coder-0.5b-instruct')
    """
    if settings.is_remote:
        return settings
    engine, name = settings.engine, settings.name
    if engine == "auto":
        engine = "vllm" if on_gpu and find_spec("vllm") is not None else "llama.cpp"
    if name == "auto":
        name = default_model(has_gpu=on_gpu and engine == "vllm")
    return settings.model_copy(update={"engine": engine, "name": name})


def choose_engine(settings: ModelSettings) -> str:
    """The engine that runs the model on this machine."""
    return resolve_model(settings, on_gpu=has_gpu()).engine


def has_gpu() -> bool:
    """Whether this machine has a GPU, found without a library that takes seconds to import."""
    return any(device.exists() for device in _GPU_DEVICES)


def read_gpu_names(gpu_info: Path = _GPU_INFO) -> tuple[str, ...]:
    """What the GPUs are called, as far as the driver says without a library."""
    texts = (file.read_text() for file in sorted(gpu_info.glob("*/information")))
    lines = (line.partition(":") for text in texts for line in text.splitlines())
    return tuple(name.strip() for key, _, name in lines if key == "Model")


@cache
def read_cpu_flags(cpu_info: Path = _CPU_INFO) -> frozenset[str]:
    """The instruction sets of this processor, as Linux names them; empty where it does not say."""
    try:
        lines = cpu_info.read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(flag for line in lines if line.startswith("flags") for flag in line.split())


def choose_cpu_dtype(flags: frozenset[str]) -> str:
    """What vLLM computes in: bfloat16 only where the processor multiplies it itself.

    With AVX2 alone, torch multiplies bfloat16 at 18 GFLOPS and float32 at 103.

    >>> choose_cpu_dtype(frozenset({"avx2"})), choose_cpu_dtype(frozenset({"avx512_bf16"}))
    ('float32', 'bfloat16')
    """
    return "bfloat16" if flags & _BFLOAT16_FLAGS else "float32"
