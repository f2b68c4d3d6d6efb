"""Judging: every candidate against the gold, whole results only, nothing hidden."""

from __future__ import annotations

import pytest

from evaluation.metrics.judge import MOST_ROWS, Judge, SystemResponse, has_top_level_order
from evaluation.runs.records import QuestionRecord
from nl2sql.types import Diagnostic, ResultSet, Violation
from quorumsql.contract import QueryResponse
from tests.evaluation.builders import build_body, build_candidate, build_example
from tests.fakes import (
    FakeExecutor,
    FakeGuard,
    build_diagnostic,
    build_result,
    build_violation,
)

REPAIR = {
    "candidate": "c1",
    "cause": "typo",
    "method": "autocorrect",
    "outcome": "fixed",
    "sql": "s",
    "rules": ["spelled_names"],
    "error_class": "syntax",
    "attempt": 1,
}
GOLD = "SELECT count(*) FROM orders"
Answer = ResultSet | Diagnostic | Exception


def build_judge(
    results: dict[str, list[Answer]], verdicts: dict[str, Violation] | None = None
) -> tuple[Judge, FakeExecutor]:
    executor = FakeExecutor(results)
    guard = FakeGuard(dict(verdicts or {}))
    return Judge(guard, executor, {"gone": "no such file"}), executor


async def judge(
    body: QueryResponse,
    given: dict[str, object],
    golds: dict[str, list[Answer]] | None = None,
    accepted: tuple[str, ...] = (),
) -> QuestionRecord:
    """The record of ``body`` whose candidates gave one value each, or a result; the gold gives 4.

    What is ``accepted`` besides a gold gives 5.
    """
    golds = golds or {GOLD: [build_result((4,))]}
    judge, _ = build_judge({"G2": [build_result((5,))], **golds})
    results = {
        name: value if isinstance(value, ResultSet) else build_result((value,))
        for name, value in given.items()
    }
    example = build_example(golds=tuple(golds), accepted=accepted)
    return await judge.judge(example, SystemResponse(body, results), evidence=False, seconds=1.5)


async def test_the_answer_and_each_candidate_are_compared() -> None:
    body = build_body(
        build_candidate("c2", "SELECT 3", votes=2, samples=2),
        build_candidate("c1", "SELECT 4"),
        build_candidate("c3", "SELEC", rows=None, error={"sqlstate": "42601", "message": "no"}),
    )
    record = await judge(body, {"c2": 3, "c1": 4})
    marks = [(candidate.id, candidate.correct) for candidate in record.candidates]
    assert marks == [("c2", False), ("c1", True), ("c3", False)]
    assert not record.correct
    assert record.candidates[2].error == "42601: no"
    assert record.seconds == 1.5
    assert record.stages_ms == {"plan": 2.0, "generate": 9.0}
    assert (record.prompt_tokens, record.completion_tokens) == (40, 7)


async def test_incomplete_results_are_fetched_again() -> None:
    body = build_body(build_candidate("c1", "SELECT x"), build_candidate("c2", "SELECT y"))
    rows = ((1,), (2,), (3,))
    whole: list[Answer] = [build_result(*rows)]
    made, executor = build_judge({GOLD: whole, "SELECT x": whole, "SELECT y": [build_result((9,))]})
    record = await made.judge(
        build_example(golds=(GOLD,)),
        SystemResponse(body, {"c1": build_result((1,), truncated=True)}),
        evidence=False,
        seconds=0,
    )
    assert record.correct
    assert not record.candidates[1].correct
    assert [most for _, most in executor.executed] == [MOST_ROWS] * 3


async def test_any_of_several_golds_is_right() -> None:
    golds: dict[str, list[Answer]] = {"G1": [build_result(("a",))], "G2": [build_result(("b",))]}
    record = await judge(build_body(build_candidate("c1", "SELECT b")), {"c1": "b"}, golds)
    assert record.correct
    assert record.gold == "G1"


@pytest.mark.parametrize(
    ("accepted", "value", "correct", "judged"),
    [
        ((), 4, True, True),
        (("G2",), 4, True, False),
        ((GOLD, "G2"), 5, False, True),
        ((GOLD, "G2"), 6, False, False),
    ],
)
async def test_what_a_person_accepts_is_compared_beside_the_gold(
    accepted: tuple[str, ...], value: int, correct: bool, judged: bool
) -> None:
    body = build_body(build_candidate("c1", "SELECT x"))
    record = await judge(body, {"c1": value}, accepted=accepted)
    assert (record.correct, record.accepted) == (correct, judged)


async def test_row_order_counts_where_the_gold_orders() -> None:
    gold = "SELECT id FROM orders ORDER BY id"
    body = build_body(build_candidate("c1", "SELECT b"))
    golds: dict[str, list[Answer]] = {gold: [build_result((1,), (2,))]}
    assert not (await judge(body, {"c1": build_result((2,), (1,))}, golds)).correct


async def test_a_clarification_is_no_right_answer() -> None:
    body = build_body(build_candidate("c1", "SELECT 4"), outcome="clarify", reason="Which?")
    record = await judge(body, {"c1": 4})
    assert not record.correct
    assert record.candidates[0].correct
    assert record.reason == "Which?"


async def test_repairs_tell_what_they_did() -> None:
    body = build_body(
        build_candidate("c1r", "SELECT 4", origin="repair", repairs="c1"),
        build_candidate("c1", "SELEC 4", rows=None, samples=0),
        repairs=[REPAIR],
    )
    (repair,) = (await judge(body, {"c1r": 4})).repairs
    assert (repair.correct_before, repair.correct_after) == (False, True)
    assert (repair.rules, repair.error_class) == (("spelled_names",), "syntax")


@pytest.mark.parametrize(
    ("results", "verdicts", "error"),
    [
        pytest.param(
            {"G1": [build_diagnostic("no such column")]}, {}, "42703: no such column", id="fails"
        ),
        pytest.param(
            {},
            {"G1": build_violation("node_not_allowed")},
            "refused by the guard: node_not_allowed: It is refused.",
            id="refused",
        ),
        pytest.param(
            {"G1": [build_result((1,), truncated=True)]},
            {},
            "the result has more than 1,000,000 rows, or too many bytes",
            id="too large",
        ),
    ],
)
async def test_a_gold_without_a_result_says_why(
    results: dict[str, list[Answer]], verdicts: dict[str, Violation], error: str
) -> None:
    made, _ = build_judge(results, verdicts)
    assert (await made.gold(build_example(golds=("G1",)))).error == error


@pytest.mark.parametrize(
    ("sql", "ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1", True),
        ("WITH c AS (SELECT a FROM t ORDER BY a) SELECT a FROM c", False),
        ("SELECT row_number() OVER (ORDER BY a) FROM t", False),
        ("not sql at all (", False),
    ],
)
def test_only_a_top_level_order_counts(sql: str, ordered: bool) -> None:
    assert has_top_level_order(sql, "postgres") is ordered
