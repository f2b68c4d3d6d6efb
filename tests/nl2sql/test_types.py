"""A whole answer survives pickle; what a type says of itself."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from nl2sql import answers, types
from tests.fakes import ORDERS, SHOP, build_assessment, build_context, build_result

ACCESS = types.Entitlement("key_1", ("shop",), types.UsageLimits(60, 2, None, 0))
PRINCIPAL = types.Principal("ann", ("sales",), (("region", "EU"), ("ids", (1, 2))), ACCESS)
HIT = types.RetrievedTable(ORDERS, 0.5, cosine_rank=1, bm25_rank=2, cosine=0.7)
VIOLATION = types.Violation("unknown_table", "x", "There is no table x here.")
DIAGNOSTIC = types.Diagnostic("42703", "column does not exist", position=8, hint="Try id.")
SCORE = types.Score((types.ScoreTerm("base", 100.0), types.ScoreTerm("lint", -5.0)))
RESULT = types.ResultSet(("n",), ("int8",), ((3,), (None,)), truncated=True, ms=1.5)
ASSESSMENT = dataclasses.replace(build_assessment(result=RESULT), score=SCORE)
TRACE = answers.Trace(
    types.Question("How many?", "shop", PRINCIPAL, k=4, seed=1, max_rows=10),
    types.ModuleRoute(("sales",), "keywords", (0.9,)),
    build_context(),
    types.Plan(
        types.SchemaLinks((types.SchemaLink("order", "sales.orders", "id", 1.0),)),
        types.JoinPlan(("sales.orders",), SHOP.foreign_keys[:1], "FROM orders"),
    ),
    prompt=types.Prompt("generate", (types.Message("user", "Hello"),)),
    ranking=types.Ranking((ASSESSMENT,), samples=4, confidence=0.5, quorum=True),
    repairs=(types.Repair("c1", "broken", "model", "fixed", "SELECT 1"),),
    timings=(answers.StageTiming("plan", 1.0),),
)

DATACLASSES: set[type] = {
    value
    for module in (types, answers)
    for value in vars(module).values()
    if dataclasses.is_dataclass(value)
    and isinstance(value, type)
    and value.__module__.startswith(module.__name__)
}


def test_an_answer_survives_pickle_with_its_trace() -> None:
    answer = answers.Answered("SELECT 1", RESULT, 0.5, True, TRACE)
    assert pickle.loads(pickle.dumps(answer)) == answer


def test_a_principal_keeps_its_access_but_is_not_compared_by_it() -> None:
    assert pickle.loads(pickle.dumps(PRINCIPAL)).access == ACCESS
    without = types.Principal("ann", PRINCIPAL.roles, PRINCIPAL.attributes)
    assert {without, PRINCIPAL} == {PRINCIPAL}


@pytest.mark.parametrize("kind", sorted(DATACLASSES, key=str))
def test_a_type_is_frozen_and_slotted(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(kind)


def test_the_best_cosine_is_the_highest_and_minus_one_without_any() -> None:
    far = types.RetrievedTable(ORDERS, 0.1, cosine=-0.2)
    unknown = types.RetrievedTable(ORDERS, 0.1)
    assert build_context(tables=("sales.orders",)).best_cosine == 0.5
    assert types.SchemaContext((far, HIT), (), ("orders", "customers")).best_cosine == 0.7
    assert types.SchemaContext((unknown,), (), ("orders",)).best_cosine == -1.0


def test_a_candidate_fails_by_violation_or_diagnostic_only() -> None:
    assert build_assessment(verdict=VIOLATION).failed
    assert build_assessment(diagnostic=DIAGNOSTIC).failed
    assert not build_assessment().failed


def test_the_winner_is_the_first_with_a_result() -> None:
    without, first, second = (
        build_assessment("c1"),
        build_assessment("c2", result=build_result((1,))),
        build_assessment("c3", result=build_result((2,))),
    )
    assert types.Ranking((without, first, second)).winner is first
    assert types.Ranking((without,)).winner is None
    assert types.Ranking().winner is None


def test_a_score_is_the_sum_of_its_terms() -> None:
    assert SCORE.total == 95.0
    assert types.Score().total == 0
