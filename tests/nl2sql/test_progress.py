"""What an observer is told, and a tracer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from nl2sql.answers import QuestionEvent
from nl2sql.pipeline.stages import StageClock
from nl2sql.progress import count_done, enter_stage, observed_by, report_sampling, traced_by
from nl2sql.types import Progress


class Notes:
    def __init__(self) -> None:
        self.told: list[QuestionEvent] = []

    def observe(self, event: QuestionEvent) -> None:
        self.told.append(event)


def test_candidates_are_counted_within_their_stage() -> None:
    notes = Notes()
    with observed_by(notes):
        enter_stage("assess", 2)
        count_done()
        enter_stage("vote")
    assert notes.told == [Progress("assess", 0, 2), Progress("assess", 1, 2), Progress("vote")]


def test_requests_at_the_same_time_are_told_together_and_nothing_twice() -> None:
    notes = Notes()
    with observed_by(notes):
        enter_stage("generate")
        report_sampling("a", Progress("", 0, 2, 50, 100))
        report_sampling("b", Progress("", 1, 2, 100, 100, 7))
        report_sampling("b", Progress("", 1, 2, 100, 100, 7))
    assert notes.told[1:] == [
        Progress("generate", 0, 2, 50, 100),
        Progress("generate", 1, 4, 150, 200, 7),
    ]


async def test_the_tasks_of_a_question_tell_its_own_observer() -> None:
    notes, others = Notes(), Notes()

    async def ask(observer: Notes, stage: str) -> None:
        with observed_by(observer):
            await asyncio.create_task(work(stage))

    async def work(stage: str) -> None:
        await asyncio.sleep(0)
        enter_stage(stage)

    await asyncio.gather(ask(notes, "plan"), ask(others, "vote"))
    assert (notes.told, others.told) == ([Progress("plan")], [Progress("vote")])


class SpanNotes:
    """A tracer that notes where spans begin and end."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    @contextmanager
    def open_span(self, name: str) -> Iterator[None]:
        """See ``OpenSpan``."""
        self.noted.append(f"{name} begins")
        try:
            yield
        finally:
            self.noted.append(f"{name} ends")


async def test_a_stage_is_a_span_which_ends_with_it() -> None:
    notes, clock = SpanNotes(), StageClock()
    with traced_by(notes.open_span):
        async with clock.time("plan"):
            notes.noted.append("work")
        with pytest.raises(ValueError, match="broken"):
            async with clock.time("vote"):
                raise ValueError("broken")
    assert notes.noted == ["plan begins", "work", "plan ends", "vote begins", "vote ends"]
