"""Which engine runs the model here, and what this machine's processor multiplies fast."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from nl2sql.settings import ModelSettings

_CPU_INFO = Path("/proc/cpuinfo")
# Devices of NVIDIA's and AMD's drivers.
_GPU_DEVICES = (Path("/dev/nvidia0"), Path("/dev/kfd"))
# NVIDIA's driver tells here what each GPU is.
_GPU_INFO = Path("/proc/driver/nvidia/gpus")
_BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})

INSTALL_VLLM = "pip install 'quorumsql[vllm]'; in a checkout on a CPU: make install-vllm."
"""What to do where vLLM is wanted and missing."""


def choose_engine(settings: ModelSettings) -> str:
    """``model.engine``; ``auto``: vLLM where it is installed and a GPU is there, else llama.cpp."""
    if settings.engine != "auto":
        return settings.engine
    return "vllm" if has_gpu() and find_spec("vllm") is not None else "llama.cpp"


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
