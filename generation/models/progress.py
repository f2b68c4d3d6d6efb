"""How far a download or a conversion is.

The store speaks to a `ProgressReporter`; `SilentProgress` is the default and `RichProgress` draws
bars on stderr. `Meter` and `watch_growth` turn "this folder is growing" into progress, for
downloads that are done by another process or library. Does not measure a conversion: that is a
line with a clock, without a percentage.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from generation.models.files import folder_bytes

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

POLL_S = 0.2


class ProgressTask(Protocol):
    """One thing under way."""

    def advance(self, n: int) -> None:
        """``n`` more bytes are done."""

    def finish(self) -> None:
        """It is over, well or not. Called exactly once."""


class ProgressReporter(Protocol):
    """Whoever shows progress."""

    def start(self, label: str, total_bytes: int | None) -> ProgressTask:
        """Something begins; ``total_bytes`` is None where its size has no meaning."""


class _SilentTask:
    def advance(self, n: int) -> None:
        """Says nothing."""

    def finish(self) -> None:
        """Says nothing."""


class SilentProgress:
    """Shows nothing."""

    def start(self, label: str, total_bytes: int | None) -> ProgressTask:
        """A task that shows nothing."""
        return _SilentTask()


class RichProgress:
    """Bars (bytes, speed, time left) for sized tasks, a spinner with a clock for the others.

    Off a terminal, as in a container's log, each task is one line when it starts and one when it
    ends. rich is imported when the first object is made.
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich import progress
        from rich.console import Console

        self._console = console or Console(stderr=True)
        self._bars = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
            progress.TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._open = 0
        self._lock = threading.Lock()

    def start(self, label: str, total_bytes: int | None) -> ProgressTask:
        """A new bar or spinner; the display is live while at least one is open."""
        with self._lock:
            if self._open == 0:
                self._bars.start()
            self._open += 1
        if not self._console.is_terminal:
            self._console.print(f"{label} …", markup=False, highlight=False)
        return _RichTask(self, self._bars.add_task(label, total=total_bytes), label)

    def advance(self, task: TaskID, n: int) -> None:
        """For the tasks made by `start`."""
        self._bars.advance(task, n)

    def close(self, task: TaskID, label: str) -> None:
        """For the tasks made by `start`: leaves one line behind, "label: 0:00:12"."""
        took = next(each.elapsed for each in self._bars.tasks if each.id == task) or 0.0
        self._bars.remove_task(task)
        with self._lock:
            self._open -= 1
            if self._open == 0:
                self._bars.stop()
        self._console.print(f"{label}: {took:.1f} s", markup=False, highlight=False)


class _RichTask:
    def __init__(self, owner: RichProgress, task: TaskID, label: str) -> None:
        self._owner, self._task, self._label = owner, task, label

    def advance(self, n: int) -> None:
        self._owner.advance(self._task, n)

    def finish(self) -> None:
        self._owner.close(self._task, self._label)


class Meter:
    """A task told how far it is instead of how much was added; it never runs backwards."""

    def __init__(self, task: ProgressTask) -> None:
        self._task = task
        self.done_bytes = 0

    def reach(self, done_bytes: int) -> None:
        """``done_bytes`` in all are done by now."""
        if done_bytes > self.done_bytes:
            self._task.advance(done_bytes - self.done_bytes)
            self.done_bytes = done_bytes


@contextmanager
def open_meter(reporter: ProgressReporter, label: str, total_bytes: int | None) -> Iterator[Meter]:
    """A meter over a new task, which is finished on the way out."""
    task = reporter.start(label, total_bytes)
    try:
        yield Meter(task)
    finally:
        task.finish()


@contextmanager
def watch_growth(folder: Path, meter: Meter, *, base_bytes: int = 0) -> Iterator[None]:
    """While the block runs, ``base_bytes`` plus the size of ``folder`` is what is done."""
    over = threading.Event()

    def poll() -> None:
        while not over.wait(POLL_S):
            meter.reach(base_bytes + folder_bytes(folder))

    watcher = threading.Thread(target=poll, name="download-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
