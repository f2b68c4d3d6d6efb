"""The plain baseline: the whole schema, one greedy query, and still the guard."""

from __future__ import annotations

import pytest

from evaluation.runs.baseline import PlainBaseline
from nl2sql.answers import Answered, Failed
from tests.fakes import (
    SHOP,
    FakeCatalogs,
    FakeEngine,
    FakeExecutor,
    FakeGuard,
    build_diagnostic,
    build_question,
    build_result,
    build_settings,
    build_violation,
)

SAMPLING = build_settings().sampling


def build_baseline(
    engine: FakeEngine, executor: FakeExecutor, guard: FakeGuard | None = None
) -> PlainBaseline:
    return PlainBaseline(engine, FakeCatalogs(SHOP), guard or FakeGuard(), executor, SAMPLING)


async def test_one_greedy_query_is_run() -> None:
    engine = FakeEngine(["SELECT 7"])
    executor = FakeExecutor({"SELECT 7": [build_result((7,))]})
    answer = await build_baseline(engine, executor).answer(build_question(k=8, seed=3))
    assert isinstance(answer, Answered)
    assert answer.result.rows == ((7,),)
    (request,) = engine.requests
    assert (request.k, request.temperature, request.seed) == (1, 0.0, 3)
    assert [timing.stage for timing in answer.trace.timings] == ["generate", "execute"]


async def test_a_query_that_fails_is_a_failure_with_its_trace() -> None:
    engine = FakeEngine(["SELECT nope"])
    executor = FakeExecutor({"SELECT nope": [build_diagnostic()]})
    answer = await build_baseline(engine, executor).answer(build_question())
    assert isinstance(answer, Failed)
    assert answer.trace.ranking is not None
    assert answer.trace.ranking.assessments[0].diagnostic is not None


@pytest.mark.parametrize("text", ["SELECT 1", "I cannot."])
async def test_what_the_guard_refuses_and_no_query_are_failures_and_nothing_is_run(
    text: str,
) -> None:
    executor, guard = FakeExecutor(), FakeGuard({"SELECT 1": build_violation()})
    answer = await build_baseline(FakeEngine([text]), executor, guard).answer(build_question())
    assert isinstance(answer, Failed)
    assert not executor.executed
