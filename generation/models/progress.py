"""Shows the progress of downloads and conversions.

The store reports to a `ProgressReporter`: `SilentProgress` is the default, `RichProgress` draws
bars on stderr. `Meter` and `watch_growth` measure a growing folder, for downloads by another
process or library. A conversion has no percentage, only the elapsed time.
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
    """A running task."""

    def advance(self, n: int) -> None:
        """``n`` more bytes are done."""

    def finish(self) -> None:
        """The task has ended, successfully or not. Called exactly once."""


class ProgressReporter(Protocol):
    """Shows progress."""

    def start(self, label: str, total_bytes: int | None) -> ProgressTask:
        """Starts a task; ``total_bytes`` is None if the task has no size."""


class _SilentTask:
    def advance(self, n: int) -> None:
        """Does nothing."""

    def finish(self) -> None:
        """Does nothing."""


class SilentProgress:
    """Shows nothing."""

    def start(self, label: str, total_bytes: int | None) -> ProgressTask:
        """A task that shows nothing."""
        return _SilentTask()


class RichProgress:
    """Bars with bytes and speed for tasks with a size, spinners with elapsed time for others.

    Without a terminal, as in a container's log, a task has a line at its start and one at its end.
    rich is imported when the first object is created.
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
        """A new bar or spinner; the display is active while at least one is open."""
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
        """For the tasks made by `start`: prints a final line, "label: 12.0 s"."""
        took = next(bar.elapsed for bar in self._bars.tasks if bar.id == task) or 0.0
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
    """Advances a task to given totals; it never decreases."""

    def __init__(self, task: ProgressTask) -> None:
        self._task = task
        self.done_bytes = 0

    def reach(self, done_bytes: int) -> None:
        """Advances the task to ``done_bytes`` in total."""
        if done_bytes > self.done_bytes:
            self._task.advance(done_bytes - self.done_bytes)
            self.done_bytes = done_bytes


@contextmanager
def open_meter(reporter: ProgressReporter, label: str, total_bytes: int | None) -> Iterator[Meter]:
    """A meter over a new task, which is finished at the end of the block."""
    task = reporter.start(label, total_bytes)
    try:
        yield Meter(task)
    finally:
        task.finish()


@contextmanager
def watch_growth(folder: Path, meter: Meter, *, base_bytes: int = 0) -> Iterator[None]:
    """While the block runs, advances ``meter`` to ``base_bytes`` plus the size of ``folder``."""
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
