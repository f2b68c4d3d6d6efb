"""Which lines of the targets each test executes, and how long it takes."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.mutation.mutant import ROOT

Lines = dict[str, set[int]]


@dataclass(slots=True)
class Traced:
    """What one test did; ``lines`` are by file, ``digest`` is that of the test's own file."""

    seconds: float = 0.0
    passed: bool = True
    lines: Lines = field(default_factory=dict)
    digest: str = ""


class Tracer:
    """A plugin that notes, for every test that pytest runs, what it executed."""

    def __init__(self, targets: Iterable[str]) -> None:
        self._files = {str(ROOT / path): path for path in targets}
        self.tests: dict[str, Traced] = {}
        self._current = Traced()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Traces the test with its fixtures."""
        self._current = self.tests[item.nodeid] = Traced()
        start = time.perf_counter()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self._current.seconds = time.perf_counter() - start

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails, or is skipped, without a mutant says nothing about one."""
        if not report.passed:
            self._current.passed = False

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        path = self._files.get(frame.f_code.co_filename)
        if path is None:
            return None
        add = self._current.lines.setdefault(path, set()).add
        add(frame.f_lineno)

        def trace_line(frame: FrameType, event: str, argument: object) -> Any:
            if event == "line":
                self._current.lines.setdefault(path, set()).add(frame.f_lineno)
            return trace_line

        return trace_line


def save_trace(tests: dict[str, Traced], file: Path) -> None:
    """Writes what was traced as JSON."""
    value = {
        name: {
            "seconds": round(test.seconds, 4),
            "passed": test.passed,
            "digest": test.digest,
            "lines": {path: sorted(lines) for path, lines in test.lines.items()},
        }
        for name, test in tests.items()
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), encoding="utf-8")


def load_trace(file: Path) -> dict[str, Traced]:
    """What ``save_trace`` wrote."""
    return {
        name: Traced(
            test["seconds"],
            test["passed"],
            {path: set(lines) for path, lines in test["lines"].items()},
            test["digest"],
        )
        for name, test in json.loads(file.read_text(encoding="utf-8")).items()
    }
