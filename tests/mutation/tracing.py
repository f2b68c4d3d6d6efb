"""Which lines of the targets each test executes, and how long it takes."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Generator, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.mutation.mutant import ROOT


@dataclass(slots=True)
class Traced:
    """What one test did; ``lines`` are by file, ``digest`` is that of the test's own file."""

    seconds: float = 0.0
    passed: bool = True
    lines: dict[str, list[int]] = field(default_factory=dict)
    digest: str = ""


class Tracer:
    """A plugin that notes, for every test that pytest runs, what it executed."""

    def __init__(self, targets: Iterable[str]) -> None:
        self._files = {str(ROOT / path): path for path in targets}
        self.tests: dict[str, Traced] = {}
        self._current = Traced()
        self._lines: dict[str, set[int]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Traces the test with its fixtures."""
        current = self._current = self.tests[item.nodeid] = Traced()
        self._lines = {}
        start = time.perf_counter()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            current.seconds = round(time.perf_counter() - start, 4)
            # Other threads may still add to them.
            lines = list(self._lines.items())
            current.lines = {path: sorted(executed.copy()) for path, executed in lines}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes that a test failed or was skipped without a mutant: it cannot judge one."""
        if not report.passed:
            self._current.passed = False

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        path = self._files.get(frame.f_code.co_filename)
        if path is None:
            return None
        self._lines.setdefault(path, set()).add(frame.f_lineno)

        def trace_line(frame: FrameType, event: str, argument: object) -> Any:
            # A frame may outlive its test: its lines belong to the test that runs now.
            if event == "line":
                self._lines.setdefault(path, set()).add(frame.f_lineno)
            return trace_line

        return trace_line


def save_trace(tests: dict[str, Traced], file: Path) -> None:
    """Writes what was traced as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    value = {name: asdict(test) for name, test in tests.items()}
    file.write_text(json.dumps(value), encoding="utf-8")


def load_trace(file: Path) -> dict[str, Traced]:
    """What ``save_trace`` wrote."""
    value = json.loads(file.read_text(encoding="utf-8"))
    return {name: Traced(**test) for name, test in value.items()}
