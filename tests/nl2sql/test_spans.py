"""A span for each stage of a question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from nl2sql.pipeline.stages import StageClock
from nl2sql.progress import traced_by


class Notes:
    """A tracer that notes where spans begin and end."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    @contextmanager
    def open_span(self, name: str) -> Iterator[None]:
        """See ``Tracer.open_span``."""
        self.noted.append(f"{name} begins")
        try:
            yield
        finally:
            self.noted.append(f"{name} ends")


async def test_a_stage_is_a_span_which_ends_with_it() -> None:
    notes, clock = Notes(), StageClock()
    with traced_by(notes):
        async with clock.time("plan"):
            notes.noted.append("work")
        with pytest.raises(ValueError, match="broken"):
            async with clock.time("vote"):
                raise ValueError("broken")
    assert notes.noted == ["plan begins", "work", "plan ends", "vote begins", "vote ends"]
