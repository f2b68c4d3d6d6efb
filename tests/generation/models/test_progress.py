"""Progress: what the store tells, and that rich shows it."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path

import pytest
from rich.console import Console

from generation.models.progress import Meter, RichProgress, open_meter, watch_growth


class FakeProgress:
    """Reporter and task in one; ``history`` is everything it was told."""

    def __init__(self) -> None:
        self.history: list[tuple[str, object]] = []

    def start(self, label: str, total_bytes: int | None) -> FakeProgress:
        self.history.append((label, total_bytes))
        return self

    def advance(self, n: int) -> None:
        self.history.append(("advance", n))

    def finish(self) -> None:
        self.history.append(("finish", None))


def test_a_meter_adds_up_and_never_runs_backwards() -> None:
    progress = FakeProgress()
    with open_meter(progress, "x", 10) as meter:
        for reached in (4, 3, 10):
            meter.reach(reached)
    assert progress.history == [("x", 10), ("advance", 4), ("advance", 6), ("finish", None)]


def test_a_task_is_finished_after_an_error_too() -> None:
    progress = FakeProgress()
    with pytest.raises(KeyError), open_meter(progress, "x", None):
        raise KeyError
    assert progress.history[-1] == ("finish", None)


def test_a_growing_folder_is_progress(tmp_path: Path) -> None:
    meter = Meter(FakeProgress())
    with watch_growth(tmp_path, meter, base_bytes=100):
        (tmp_path / "deeper").mkdir()
        (tmp_path / "deeper" / "file").write_bytes(b"12345")
        deadline = time.monotonic() + 10
        while meter.done_bytes < 105 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert meter.done_bytes == 105


@pytest.mark.parametrize("terminal", [True, False])
def test_rich_leaves_a_line_with_the_time(terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    progress = RichProgress(console)
    for total in (2_000_000, None):
        task = progress.start(f"model: [step {total}]", total)
        task.advance(1_000_000)
        task.finish()
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    for step in ("2000000", "None"):
        assert re.search(rf"model: \[step {step}\]: \d+\.\d s", shown)
