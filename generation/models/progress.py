"""Shows the steps of a pull: downloads, conversions, and waiting for another process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_POLL_S = 0.2


class PullProgress:
    """Shows steps on a console; without one, nothing.

    A terminal gets a bar for a step with a size, or else the elapsed time. Elsewhere, as in a
    container's log, a step has a line at its start and one at its end.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console

    @contextmanager
    def show(
        self, label: str, total_bytes: int | None = None, measure: Callable[[], int] = lambda: 0
    ) -> Iterator[None]:
        """Shows the step that runs in the block; ``measure`` gives the bytes that are done."""
        if (console := self._console) is None:
            yield
            return
        from rich import progress

        start, over = time.monotonic(), threading.Event()
        if not console.is_terminal:
            console.print(f"{label} …", markup=False, highlight=False)
        bars = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
            progress.TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        task = bars.add_task(label, total=total_bytes)

        def poll() -> None:
            while not over.wait(_POLL_S):
                bars.update(task, completed=measure())

        watcher = threading.Thread(target=poll, name="pull-progress", daemon=True)
        try:
            with bars:
                watcher.start()
                yield
        finally:
            over.set()
            watcher.join()
            took = time.monotonic() - start
            console.print(f"{label}: {took:.1f} s", markup=False, highlight=False)


def show_on_stderr() -> PullProgress:
    """The steps on standard error."""
    from rich.console import Console

    return PullProgress(Console(stderr=True))
