"""A repair is another dialect's reading first, then one question to the model."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.errors import EngineUnavailable
from nl2sql.types import Assessment, Candidate, Repair
from repair.repairer import CandidateRepairer, describe_failure
from tests.fakes import (
    FakeEngine,
    build_assessment,
    build_context,
    build_diagnostic,
    build_question,
    build_settings,
    build_violation,
)


def refuse(sql: str, code: str, samples: int = 1) -> Assessment:
    return build_assessment("c2", sql=sql, samples=samples, verdict=build_violation(code))


async def repair(
    engine: FakeEngine, failed: Assessment, *, ask_model: bool = True, **flags: bool
) -> tuple[Candidate | None, Repair]:
    repairer = CandidateRepairer(engine, build_settings(flags=flags))
    return await repairer.repair(
        build_question(seed=3), build_context(), failed, ask_model=ask_model
    )


@pytest.mark.parametrize("code", ["unparsable", "function_not_allowed", "type_not_allowed"])
async def test_by_rule_another_dialect_is_tried_and_no_model(code: str) -> None:
    engine = FakeEngine()
    failed = refuse("SELECT `a` FROM `t`", code, samples=3)
    candidate, made = await repair(engine, failed, ask_model=False)
    assert candidate == Candidate("c2r", 'SELECT "a" FROM "t"', 3, "repair", "c2")
    assert (made.candidate, made.method, made.sql) == ("c2", "normalize", candidate.sql)
    assert engine.requests == []


@pytest.mark.parametrize(
    ("failed", "flags"),
    [
        pytest.param(refuse("SELECT `a` FROM `t`", "unknown_table"), {}, id="another_cause"),
        pytest.param(refuse("SELECT a FROM t", "unparsable"), {}, id="nothing_to_normalize"),
        pytest.param(
            refuse("SELECT `a` FROM `t`", "unparsable"), {"pg_normalize": False}, id="switched_off"
        ),
        pytest.param(
            build_assessment("c2", sql="SELECT `a`", diagnostic=build_diagnostic()),
            {},
            id="the_database_said_so",
        ),
    ],
)
async def test_where_no_rule_applies_the_model_is_asked_once(
    failed: Assessment, flags: dict[str, Any]
) -> None:
    by_rule, _ = await repair(FakeEngine(), failed, ask_model=False, **flags)
    assert by_rule is None
    engine = FakeEngine(["SELECT b FROM t"])
    candidate, made = await repair(engine, failed, **flags)
    assert candidate == Candidate("c2r", "SELECT b FROM t", 1, "repair", "c2")
    assert made.method == "model"
    (request,) = engine.requests
    assert (request.k, request.temperature, request.seed) == (1, 0.0, 3)


async def test_the_model_is_not_asked_where_the_caller_forbids_it() -> None:
    engine = FakeEngine()
    failed = refuse("SELECT a FROM t", "node_not_allowed")
    candidate, made = await repair(engine, failed, ask_model=False)
    assert candidate is None
    assert made.outcome == "none"
    assert engine.requests == []


@pytest.mark.parametrize(
    ("answer", "sql"),
    [("select  A from T;", "select  A from T"), ("I cannot.", "")],
    ids=["the_same_query", "no_query"],
)
async def test_nothing_new_is_no_candidate(answer: str, sql: str) -> None:
    candidate, made = await repair(
        FakeEngine([answer]), refuse("SELECT a FROM t", "unknown_column")
    )
    assert candidate is None
    assert made == Repair("c2", "It is refused.", "model", "none", sql)


async def test_the_prompt_holds_question_query_and_error() -> None:
    engine = FakeEngine(["SELECT 1"])
    diagnostic = build_diagnostic("column x does not exist", hint="Try y.")
    failed = build_assessment("c2", sql="SELECT x FROM t", diagnostic=diagnostic)
    await repair(engine, failed)
    prompt = engine.requests[0].prompt
    text = prompt.messages[-1].content
    assert prompt.purpose == "repair"
    assert "How many orders are there?" in text
    assert "SELECT x FROM t" in text
    assert "column x does not exist Try y. (SQLSTATE 42703)" in text
    assert text.index("CREATE TABLE") < text.index("How many orders")


async def test_an_error_of_the_engine_passes_through() -> None:
    with pytest.raises(EngineUnavailable):
        await repair(FakeEngine(EngineUnavailable("Busy.")), refuse("SELECT a", "unknown_table"))


@pytest.mark.parametrize(
    ("failed", "text"),
    [
        (refuse("SELECT 1", "unknown_table"), "It is refused."),
        (build_assessment(diagnostic=build_diagnostic("Bad.")), "Bad. (SQLSTATE 42703)"),
        (build_assessment(), ""),
    ],
    ids=["violation", "diagnostic", "nothing_wrong"],
)
def test_the_cause_is_what_guard_or_database_said(failed: Assessment, text: str) -> None:
    assert describe_failure(failed) == text
