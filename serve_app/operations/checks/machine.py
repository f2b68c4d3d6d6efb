"""Checks of this machine: cores or GPU, memory, disk."""

from __future__ import annotations

import os
import shutil

import psutil

from generation.engines.choice import (
    INSTALL_VLLM,
    choose_engine,
    has_gpu,
    read_gpu_names,
)
from nl2sql.settings import Settings
from serve_app.operations.checks.check import Check

# For weights, activations and interpreter of the 0.5B model; vLLM needs its KV cache in addition.
_ENGINE_GIB = {"vllm": 4, "openvino": 2}
_MIN_DISK_GB = 4


def check_cores(settings: Settings) -> Check:
    """Checks for a GPU, or enough CPU cores."""
    if has_gpu():
        names = ", ".join(read_gpu_names()) or "present"
        if settings.model.engine == "auto" and choose_engine(settings.model) != "vllm":
            return Check("GPU", "warning", f"{names}, but not used: vLLM is missing", INSTALL_VLLM)
        return Check("GPU", "ok", names)
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        return Check("cores", "warning", f"{cores} core, no GPU", "Expect slow answers.")
    return Check("cores", "ok", f"{cores} cores, no GPU")


def check_memory(settings: Settings) -> Check:
    """Checks the free memory for weights and KV cache."""
    free = psutil.virtual_memory().available / 2**30
    engine, key = choose_engine(settings.model), "max_model_len"
    needed = _ENGINE_GIB[engine]
    if engine == "vllm":
        needed, key = needed + settings.model.kv_cache_gib, "kv_cache_gib"
    if free < needed:
        return Check(
            "memory",
            "warning",
            f"{free:.1f} GiB free, about {needed} GiB needed",
            f"Lower model.{key} or close other programs.",
        )
    return Check("memory", "ok", f"{free:.1f} GiB free")


def check_disk(settings: Settings) -> Check:
    """Checks the free disk space under ``home``."""
    folder = next(path for path in (settings.home, *settings.home.parents) if path.exists())
    free = shutil.disk_usage(folder).free / 1e9
    if free < _MIN_DISK_GB:
        return Check(
            "disk", "warning", f"{free:.1f} GB free in {folder}", "Free space, or move `home`."
        )
    return Check("disk", "ok", f"{free:.0f} GB free in {folder}")
