"""The consoles of the commands, and the progress of long steps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from serve_app.cli.safe_text import SafeConsole

CONSOLE = SafeConsole(emoji=False, highlight=False)
ERRORS = SafeConsole(emoji=False, highlight=False, stderr=True)


class TerminalReporter:
    """Prints one line for each step: a bar while it runs, then its outcome and seconds.

    On ``ERRORS`` where standard output is for another program. ``warnings`` are those that were
    reported, for the document of ``--json``.
    """

    def __init__(self, console: SafeConsole = CONSOLE) -> None:
        self._console = console
        self.warnings: list[str] = []

    @contextmanager
    def step(self, text: str) -> Iterator[TerminalStep]:
        """Shows ``text`` and a bar until the block ends."""
        start = time.perf_counter()
        progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TextColumn("[dim]{task.fields[phase]}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[so_far]}"),
            console=self._console,
            transient=True,
        )
        step = TerminalStep(progress, text)
        with progress:
            yield step
        seconds = time.perf_counter() - start
        told = escape(f"{text}: {step.outcome or 'done'}")
        self._console.print(f"[green]✓[/] {told} [dim]({seconds:.1f} s)[/]")

    def warn(self, text: str) -> None:
        """Prints a warning about something that was left out or failed."""
        self.warnings.append(text)
        self._console.print(f"[yellow]![/] {escape(text)}", soft_wrap=True)


class TerminalStep:
    """The bar of one step."""

    def __init__(self, progress: Progress, text: str) -> None:
        self._progress = progress
        self._task = progress.add_task(text, total=None, so_far="", phase="")
        self._phase = ""
        self.outcome = ""

    def update(self, done: int, total: int | None = None, phase: str = "") -> None:
        """Moves the bar to ``done`` of ``total``; a new phase restarts the bar and its clock."""
        if phase != self._phase:
            self._phase = phase
            self._progress.reset(self._task, phase=phase, so_far=self.outcome)
        self._progress.update(self._task, completed=done, total=total)

    def finish(self, text: str) -> None:
        """Sets the text beside the bar, which is also the outcome of the step."""
        self.outcome = text
        self._progress.update(self._task, so_far=text)
