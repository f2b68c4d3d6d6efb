"""Where the progress of long steps goes, and one that says nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Reporter(Protocol):
    """Where progress goes."""

    def step(self, text: str) -> AbstractContextManager[StepProgress]: ...

    def warn(self, text: str) -> None:
        """Something that was left out or failed, while the rest goes on."""
        ...


class StepProgress(Protocol):
    """One step under way."""

    def update(self, done: int, total: int | None = None, phase: str = "") -> None:
        """``done`` of ``total`` (None: unknown) of that phase; each phase counts from 0."""
        ...

    def finish(self, text: str) -> None: ...


class Silence:
    """A reporter and its step that say nothing."""

    def step(self, text: str) -> AbstractContextManager[StepProgress]:
        return nullcontext(self)

    def warn(self, text: str) -> None:
        pass

    def update(self, done: int, total: int | None = None, phase: str = "") -> None:
        pass

    def finish(self, text: str) -> None:
        pass
