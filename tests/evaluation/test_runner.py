"""A benchmark run against a service that is a function here."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from evaluation.benchmark import Example
from evaluation.metrics import Outcome
from evaluation.runner import RunOptions, has_top_level_order, run_benchmark
from nl2sql.errors import EngineUnavailable
from tests.fakes import FakeExecutor, FakeGuard, build_diagnostic, build_result, build_violation

EXAMPLE = Example("1", "shop", "How many?", "SELECT 1", "easy")


class FakeService:
    """Answers each question with what is known for it."""

    def __init__(self, answers: dict[str, dict[str, Any] | Exception]) -> None:
        self._answers = answers
        self.bodies: list[dict[str, Any]] = []

    async def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        self.bodies.append(body)
        answer = self._answers[body["question"]]
        if isinstance(answer, Exception):
            raise answer
        return answer


def answer(*rows: list[object], outcome: str = "answered") -> dict[str, Any]:
    stages = [{"stage": "plan", "ms": 2.0}]
    return {"outcome": outcome, "sql": "SELECT x", "rows": rows, "trace": {"stages": stages}}


def fail() -> dict[str, Any]:
    return {"outcome": "failed", "reason": "No.", "trace": {"stages": []}}


async def judge_one(
    given: dict[str, Any], *gold: tuple[object, ...], query: str = "SELECT 1"
) -> Outcome:
    example = Example("1", "shop", "How many?", query)
    service = FakeService({"How many?": given})
    executor = FakeExecutor({query: [build_result(*gold)]})
    (outcome,) = await run_benchmark([example], service.ask, FakeGuard(), executor, RunOptions(k=1))
    return outcome


@pytest.mark.parametrize(
    ("given", "gold", "correct"),
    [
        pytest.param(answer([3]), [(3,)], True, id="equal"),
        pytest.param(answer([4]), [(3,)], False, id="wrong"),
        pytest.param(answer(["a", 1]), [(1, "a")], True, id="columns_swapped"),
        pytest.param(answer([2.5]), [(Decimal("2.50"),)], True, id="decimal"),
        pytest.param(answer(["2025-06-30"]), [(dt.date(2025, 6, 30),)], True, id="date"),
        pytest.param(
            answer(["2025-06-30T00:00:00"]), [(dt.date(2025, 6, 30),)], True, id="midnight"
        ),
        pytest.param(answer(), [], True, id="both_empty"),
        pytest.param(fail(), [], False, id="failed_while_the_gold_is_empty"),
    ],
)
async def test_an_answer_is_right_when_its_rows_are_the_golds(
    given: dict[str, Any], gold: list[tuple[object, ...]], correct: bool
) -> None:
    assert (await judge_one(given, *gold)).correct is correct


async def test_a_failure_does_not_execute() -> None:
    outcome = await judge_one(fail(), (1,))
    assert (outcome.outcome, outcome.executes, outcome.sql) == ("failed", False, "")


async def test_an_outcome_holds_what_the_metrics_read() -> None:
    outcome = await judge_one(answer([1], [1]), (1,), (1,))
    assert (outcome.id, outcome.sql, outcome.gold_rows) == ("1", "SELECT x", 2)
    assert outcome.stages == {"plan": 2.0}
    assert outcome.gold_error == ""


@pytest.mark.parametrize(
    ("query", "correct"),
    [
        ("SELECT x FROM t ORDER BY x", False),
        ("SELECT x FROM t", True),
        ("SELECT x FROM (SELECT x FROM t ORDER BY x) AS s", True),
        ("SELECT rank() OVER (ORDER BY x) FROM t", True),
        ("SELECT x FROM t UNION SELECT y FROM t ORDER BY 1", False),
    ],
    ids=["ordered", "unordered", "ordered_inside", "window", "ordered_union"],
)
async def test_the_order_of_rows_counts_where_the_gold_orders(query: str, correct: bool) -> None:
    outcome = await judge_one(answer([2], [1]), (1,), (2,), query=query)
    assert outcome.correct is correct
    assert has_top_level_order(query) is not correct


async def test_a_gold_that_the_guard_refuses_is_counted() -> None:
    guard = FakeGuard({"SELECT 1": build_violation("unknown_table")})
    executor = FakeExecutor()
    service = FakeService({"How many?": answer([1])})
    (outcome,) = await run_benchmark([EXAMPLE], service.ask, guard, executor, RunOptions(k=1))
    assert outcome.gold_error.startswith("refused by the guard: unknown_table")
    assert not outcome.correct
    assert executor.executed == []


async def test_a_gold_that_fails_is_counted() -> None:
    executor = FakeExecutor({"SELECT 1": [build_diagnostic("timeout")]})
    service = FakeService({"How many?": answer([1])})
    (outcome,) = await run_benchmark([EXAMPLE], service.ask, FakeGuard(), executor, RunOptions(k=1))
    assert outcome.gold_error == "timeout"
    assert not outcome.correct


async def test_outcomes_keep_the_order_of_the_examples_and_each_has_a_line(tmp_path: Path) -> None:
    examples = [Example(str(n), "shop", f"Question {n}", f"SELECT {n}") for n in range(5)]
    service = FakeService({each.question: answer([int(each.id)]) for each in examples})
    executor = FakeExecutor({each.query: [build_result((int(each.id),))] for each in examples})
    seen: list[Outcome] = []
    output = tmp_path / "out.jsonl"
    outcomes = await run_benchmark(
        examples,
        service.ask,
        FakeGuard(),
        executor,
        RunOptions(k=4, seed=9, concurrency=3),
        output=output,
        progress=seen.append,
    )
    assert [each.id for each in outcomes] == ["0", "1", "2", "3", "4"]
    assert all(each.correct for each in outcomes)
    assert len(seen) == 5
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert {(line["id"], line["gold"]) for line in lines} == {(e.id, e.query) for e in examples}
    assert {(body["k"], body["seed"], body["trace"]) for body in service.bodies} == {(4, 9, True)}


async def test_an_error_of_the_service_passes_through() -> None:
    service = FakeService({"How many?": EngineUnavailable("Busy.")})
    executor = FakeExecutor({"SELECT 1": [build_result((1,))]})
    with pytest.raises(EngineUnavailable):
        await run_benchmark([EXAMPLE], service.ask, FakeGuard(), executor, RunOptions(k=1))
