"""What each process imports, and so how soon the service is ready."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        # vLLM 0.32 on a CPU dies at its start where llvmlite is loaded, and so numba. What the
        # command line imports, every process of the engine imports again.
        ("serve_app.cli", {"numba", "llvmlite", "torch", "vllm"}),
        ("serve_app.ray.engine_replica", {"duckdb", "fastapi", "mcp", "psycopg", "sqlglot"}),
        ("serve_app.ray.starting", {"fastapi", "opentelemetry.sdk", "sqlglot", "starlette"}),
        ("serve_app.ray.builder", {"mcp", "scipy", "serve_app.http.app"}),
        ("serve_app.ray.stages", {"mcp", "serve_app.http.app"}),
    ],
)
def test_a_process_imports_nothing_that_only_others_need(module: str, unwanted: set[str]) -> None:
    code = f"import sys, {module}; print(*{unwanted} & {{*sys.modules}})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert loaded == []


@pytest.mark.parametrize("module", ["serve_app.ray.starting", "serve_app.batch.running"])
def test_ray_is_imported_without_its_handler_of_signals(module: str) -> None:
    code = f"import {module}; from ray._private import ray_constants as ray; "
    code += "print(ray.RAY_DISABLE_FAILURE_SIGNAL_HANDLER)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "True\n"
