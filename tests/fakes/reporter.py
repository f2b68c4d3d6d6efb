"""A reporter that remembers what it was told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from serve_app.reporting import SilentReporter


class FakeReporter(SilentReporter):
    """Notes each warning, and of each step how it ended."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    @contextmanager
    def step(self, text: str) -> Iterator[FakeReporter]:
        self._step = text
        yield self

    def finish(self, text: str) -> None:
        self.heard.append(f"{self._step}: {text}")

    def warn(self, text: str) -> None:
        self.heard.append(text)
