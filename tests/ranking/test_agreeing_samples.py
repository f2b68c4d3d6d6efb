"""Samples that agree, with the real guard, executor, vote and rules over a SQLite file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from execution.executor import ReadOnlyExecutor
from nl2sql.answers import Answer, Answered, Clarify
from nl2sql.pipeline.pipeline import Pipeline
from nl2sql.pipeline.stages import Stages
from nl2sql.settings import parse_settings
from nl2sql.types import Candidate, Question
from ranking.confidence.calibration import load_calibration
from ranking.ranker import CandidateRanker
from repair.repairer import CandidateRepairer
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from serve_app.composition.wiring import Wiring
from tests.execution.sqlite.shop import write
from tests.fakes import (
    FakeCatalogs,
    FakeGenerator,
    FakePlanner,
    FakeRetriever,
    StubEngine,
    build_context,
    build_generated,
    build_question,
)

CUSTOMERS = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country_code TEXT);
INSERT INTO customers VALUES (1, 'Ada', 'DE'), (2, 'Bob', 'DE'), (3, 'Cyd', 'US'), (4, 'Dee', 'FR');
"""
FITTED, UNFITTED = "qwen2.5-coder-0.5b-instruct", "a-hosted-model"
COUNT = "SELECT count(*) FROM customers"
Ask = Callable[..., Awaitable[Answer]]


@pytest.fixture
async def ask(tmp_path: Path) -> AsyncIterator[Ask]:
    """Asks, given what the model writes: queries with their numbers of samples."""
    path = tmp_path / "customers.sqlite"
    write(path, CUSTOMERS)
    settings = parse_settings({"databases": {"shop": {"reader": {"url": f"sqlite:///{path}"}}}})
    catalog = read_sqlite_catalog(path, database="shop")
    guard = Wiring(settings).build_guard(FakeCatalogs(catalog))
    executor = ReadOnlyExecutor(Wiring(settings).build_databases())

    async def ask(text: str, model: str, /, **written: int) -> Answer:
        queries = dict(zip(written, range(1, 9), strict=False))
        candidates = [
            Candidate(f"c{queries[sql]}", sql, samples) for sql, samples in written.items()
        ]
        question: Question = build_question(text=text, k=sum(written.values()))
        calibration = load_calibration("auto", model)
        pipeline = Pipeline(
            Stages(
                FakeRetriever(build_context(catalog, dialect="sqlite")),
                FakePlanner(),
                FakeGenerator(build_generated(*candidates)),
                guard,
                CandidateRanker(guard, executor, settings, calibration),
                CandidateRepairer(StubEngine(), settings),
            )
        )
        return await pipeline.answer(question)

    yield ask
    await executor.close()


@pytest.mark.parametrize("model", [FITTED, UNFITTED])
@pytest.mark.parametrize(
    ("question", "code", "number"),
    [
        ("How many customers are in Germany?", "DE", 2),
        ("How many customers live in America?", "US", 1),
    ],
)
async def test_the_code_of_a_word_is_no_fault(
    ask: Ask, question: str, code: str, number: int, model: str
) -> None:
    answer = await ask(question, model, **{f"{COUNT} WHERE country_code = '{code}'": 4})
    assert isinstance(answer, Answered)
    assert answer.result.rows == ((number,),)
    assert answer.confidence >= 0.5


async def test_the_code_of_a_word_wins_a_vote_that_is_divided(ask: Ask) -> None:
    coded = f"{COUNT} WHERE country_code = 'DE'"
    answer = await ask("How many customers are in Germany?", FITTED, **{coded: 3, f"{COUNT}": 1})
    assert isinstance(answer, Answered)
    assert answer.sql == coded


@pytest.mark.parametrize("model", [FITTED, UNFITTED])
async def test_what_finds_nothing_is_not_answered_with_everything(ask: Ask, model: str) -> None:
    answer = await ask(
        "How many customers are in Spain?", model, **{f"{COUNT} WHERE country_code = 'ESP'": 4}
    )
    ranking = answer.trace.ranking
    assert ranking is not None
    winner = ranking.winner
    assert winner is not None
    assert winner.candidate.origin == "sample"


async def test_without_a_fit_a_divided_vote_is_asked_back(ask: Ask) -> None:
    divided = {f"{COUNT} WHERE country_code = '{code}'": 2 for code in ("DE", "US")}
    answer = await ask("How many customers are there?", UNFITTED, **divided)
    assert isinstance(answer, Clarify)
    assert answer.interpretations
