"""A run over fakes: questions side by side, broken off, gone on with."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path

import pytest

from data.benchmarks.types import Example
from evaluation.metrics.judge import Judge, SystemResponse
from evaluation.runs.records import QuestionRecord
from evaluation.runs.run_folder import RunFolder, read_run
from evaluation.runs.runner import Progress, run_questions
from nl2sql.errors import EngineUnavailable, PromptTooLong
from nl2sql.types import Principal, Question
from tests.evaluation.builders import build_body, build_candidate, build_example, build_manifest
from tests.fakes import FakeExecutor, FakeGuard, build_result

EXAMPLES = tuple(build_example(f"q{number}", evidence="A hint.") for number in range(6))


class FakeSystem:
    """Answers right, but for the questions that have an exception of their own."""

    def __init__(self, errors: dict[str, Exception] | None = None) -> None:
        self._errors = dict(errors or {})
        self.questions: list[Question] = []
        self.in_flight = 0
        self.most_in_flight = 0

    async def ask(self, question: Question) -> SystemResponse:
        self.questions.append(question)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(0)
        self.in_flight -= 1
        if error := self._errors.pop(question.text, None):
            raise error
        return SystemResponse(
            build_body(build_candidate("c1", "SELECT 1")), {"c1": build_result((1,))}
        )


def build_run(folder: Path, **overrides: object) -> RunFolder:
    return RunFolder(folder, build_manifest(*(example.id for example in EXAMPLES), **overrides))


def build_judge() -> Judge:
    return Judge(
        FakeGuard(),
        FakeExecutor({"SELECT 1": [build_result((1,))] * 9}),
        {"gone": "deleted"},
    )


async def ask_all(
    run: RunFolder,
    system: FakeSystem,
    examples: tuple[Example, ...] = EXAMPLES,
    *,
    progress: Progress = lambda done, total, correct: None,
) -> tuple[QuestionRecord, ...]:
    """The records of the run after asking all its questions."""
    with run.open():
        await run_questions(
            examples, system.ask, build_judge(), run, max_rows=50, progress=progress
        )
    return read_run(run.folder)[1]


async def test_all_questions_are_asked_side_by_side(tmp_path: Path) -> None:
    system = FakeSystem()
    run = build_run(tmp_path / "run", concurrency=3, seed=7, k=4)
    seen: list[tuple[int, int, int]] = []
    await ask_all(run, system, progress=lambda *counts: seen.append(counts))
    assert system.most_in_flight == 3
    assert seen == [(done, 6, done) for done in range(7)]
    question = system.questions[0]
    assert (question.k, question.seed, question.max_rows) == (4, 7, 50)
    assert (question.principal, question.evidence) == (Principal("evaluation"), "")


async def test_a_question_with_an_error_of_its_own_counts_as_wrong(tmp_path: Path) -> None:
    system = FakeSystem({"How many q2?": PromptTooLong("Too long.", hint="Shorten it.")})
    record = (await ask_all(build_run(tmp_path / "run", k=8), system))[2]
    assert (record.outcome, record.correct, record.k) == ("error", False, 8)
    assert record.reason == "Too long. Shorten it."


async def test_a_missing_database_is_not_asked(tmp_path: Path) -> None:
    system = FakeSystem()
    examples = (*EXAMPLES[:5], dataclasses.replace(EXAMPLES[5], database="gone"))
    records = await ask_all(build_run(tmp_path / "run", k=8), system, examples)
    assert len(system.questions) == 5
    assert records[5].k == 8
    assert records[5].gold_error == "the database is missing: deleted"


async def test_an_unavailable_system_ends_the_session_and_nothing_is_lost(tmp_path: Path) -> None:
    system = FakeSystem({"How many q3?": EngineUnavailable("It died.")})
    run = build_run(tmp_path / "run")
    with pytest.raises(EngineUnavailable):
        await ask_all(run, system)
    assert run.done() == {"q0", "q1", "q2"}
    await ask_all(run, system)
    asked = [question.text for question in system.questions]
    assert asked == [f"How many q{number}?" for number in (0, 1, 2, 3, 3, 4, 5)]
