"""A whole answer survives pickle."""

from __future__ import annotations

import dataclasses
import pickle

from nl2sql import answers, types
from tests.fakes import SHOP, build_assessment, build_context

ACCESS = types.Entitlement("key_1", ("shop",), types.UsageLimits(60, 2, None, 0))
PRINCIPAL = types.Principal("ann", ("sales",), (("region", "EU"), ("ids", (1, 2))), ACCESS)
SCORE = types.Score((types.ScoreTerm("base", 100.0), types.ScoreTerm("lint", -5.0)))
RESULT = types.ResultSet(("n",), ("int8",), ((3,), (None,)), truncated=True, ms=1.5)
ASSESSMENT = dataclasses.replace(build_assessment(result=RESULT), score=SCORE)
TRACE = answers.Trace(
    types.Question("How many?", "shop", PRINCIPAL, k=4, seed=1, max_rows=10),
    types.ModuleRoute(("sales",), (0.9,)),
    build_context(),
    types.Plan(
        (types.SchemaLink("order", "sales.orders", "id", 1.0),),
        types.JoinPlan(("sales.orders",), SHOP.foreign_keys[:1], "FROM orders"),
    ),
    prompts=(("standard", types.Prompt("generate", (types.Message("user", "Hello"),))),),
    ranking=types.Ranking((ASSESSMENT,), samples=4, confidence=0.5, quorum=True),
    repairs=(types.Repair("c1", "broken", "model", "fixed", "SELECT 1"),),
    timings=(answers.StageTiming("plan", 1.0),),
)


def test_an_answer_survives_pickle_with_its_trace() -> None:
    answer = answers.Answered("SELECT 1", RESULT, 0.5, True, TRACE)
    assert pickle.loads(pickle.dumps(answer)) == answer


def test_a_principal_keeps_its_access_but_is_not_compared_by_it() -> None:
    assert pickle.loads(pickle.dumps(PRINCIPAL)).access == ACCESS
    without = types.Principal("ann", PRINCIPAL.roles, PRINCIPAL.attributes)
    assert {without, PRINCIPAL} == {PRINCIPAL}
