"""What the command line imports, every process of the engine imports again."""

from __future__ import annotations

import subprocess
import sys


def test_the_command_line_imports_nothing_that_keeps_the_engine_from_starting() -> None:
    """vLLM 0.32 on a CPU dies at its start where llvmlite is loaded, and so numba."""
    code = (
        "import sys, serve_app.cli; print(*{'numba', 'llvmlite', 'torch', 'vllm'} & {*sys.modules})"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert loaded == []
