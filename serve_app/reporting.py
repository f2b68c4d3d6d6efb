"""The interface to which long steps report their progress, and an implementation that is silent."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Reporter(Protocol):
    """Receives the progress of long steps."""

    def step(self, text: str) -> AbstractContextManager[StepProgress]: ...

    def warn(self, text: str) -> None:
        """Reports something that was left out or failed while the rest continues."""
        ...


class StepProgress(Protocol):
    """One running step."""

    def update(self, done: int, total: int | None = None, phase: str = "") -> None:
        """``done`` of ``total`` (None: unknown) of that phase; each phase counts from 0."""
        ...

    def finish(self, text: str) -> None: ...


class SilentReporter:
    """A reporter and a step that print nothing."""

    def step(self, text: str) -> AbstractContextManager[StepProgress]:
        return nullcontext(self)

    def warn(self, text: str) -> None:
        pass

    def update(self, done: int, total: int | None = None, phase: str = "") -> None:
        pass

    def finish(self, text: str) -> None:
        pass


SILENT = SilentReporter()
