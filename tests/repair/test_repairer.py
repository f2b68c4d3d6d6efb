"""One attempt: by rule, or by one question to the model."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.errors import EngineUnavailable
from nl2sql.types import Assessment, Candidate, Repair
from repair.repairer import CandidateRepairer
from tests.fakes import (
    FakeEngine,
    build_assessment,
    build_context,
    build_diagnostic,
    build_question,
    build_settings,
    build_violation,
)
from tests.repair.autocorrect.golden_tables import PLAN, build_golden_context


def refuse(sql: str, code: str, samples: int = 1) -> Assessment:
    return build_assessment("c2", sql=sql, samples=samples, verdict=build_violation(code))


async def repair(
    failed: Assessment,
    engine: FakeEngine | None = None,
    *,
    history: tuple[Assessment, ...] = (),
    **flags: bool,
) -> tuple[Candidate | None, Repair]:
    """By the model if there is an engine."""
    repairer = CandidateRepairer(engine or FakeEngine(), build_settings(flags=flags))
    return await repairer.repair(
        build_question(seed=3),
        build_context(),
        failed,
        ask_model=engine is not None,
        history=history,
    )


@pytest.mark.parametrize("code", ["unparsable", "function_not_allowed", "type_not_allowed"])
async def test_another_dialect_is_tried(code: str) -> None:
    candidate, made = await repair(refuse("SELECT `name` FROM `customers`", code, samples=3))
    assert candidate is not None
    assert candidate.sql.replace('"', "") == "SELECT name FROM customers"
    # It has to work before it may take over any samples.
    assert (candidate.id, candidate.samples, candidate.repairs) == ("c2r", 0, "c2")
    assert (made.candidate, made.method, made.sql) == ("c2", "normalize", candidate.sql)
    assert made.rules


@pytest.mark.parametrize(
    ("failed", "after", "method", "rule", "error_class"),
    [
        pytest.param(
            refuse("SELECT country FROM orders", "unknown_column"),
            "SELECT customers.country FROM orders JOIN customers "
            "ON orders.customer_id = customers.id",
            *("autocorrect", "neighbour_columns", "unknown_column"),
            id="autocorrect",
        ),
        pytest.param(
            refuse("SELECT contry FROM customers", "unknown_column"),
            "SELECT customers.country FROM customers",
            *("autocorrect", "swapped_names", "unknown_column"),
            id="a typing error",
        ),
        pytest.param(
            build_assessment(
                "c2",
                sql="SELECT o.country FROM orders AS o",
                diagnostic=build_diagnostic(sqlstate="42703"),
            ),
            "SELECT customers.country FROM orders AS o JOIN customers "
            "ON o.customer_id = customers.id",
            *("autocorrect", "neighbour_columns", "unknown_column"),
            id="an error of the database",
        ),
    ],
)
async def test_a_query_is_put_right(
    failed: Assessment, after: str, method: str, rule: str, error_class: str
) -> None:
    candidate, made = await repair(failed)
    assert candidate is not None
    assert candidate.sql == after
    assert (made.method, made.rules) == (method, (rule,))
    assert (made.error_class, made.attempt) == (error_class, 1)


@pytest.mark.parametrize(
    ("failed", "flags"),
    [
        pytest.param(refuse("SELECT email FROM customers", "unknown_column"), {}, id="no_rule"),
        pytest.param(
            refuse("SELECT `name` FROM `customers`", "unparsable"),
            {"dialect_normalize": False},
            id="dialects_are_switched_off",
        ),
        pytest.param(
            refuse("SELECT country FROM orders", "unknown_column"),
            {"autocorrect": False},
            id="autocorrect_is_switched_off",
        ),
    ],
)
async def test_where_no_rule_applies_nothing_is_made(
    failed: Assessment, flags: dict[str, Any]
) -> None:
    candidate, made = await repair(failed, **flags)
    assert candidate is None
    assert (made.cause, made.outcome, made.method, made.sql) == (
        "It is refused.",
        "none",
        "none",
        "",
    )


@pytest.mark.parametrize("code", ["not_permitted", "not_a_query", "unfiltered_table"])
async def test_what_was_refused_on_purpose_is_not_repaired(code: str) -> None:
    engine = FakeEngine()
    failed = refuse("SELECT country FROM orders", code)
    for candidate, made in (await repair(failed), await repair(failed, engine)):
        assert candidate is None
        assert made.outcome == "none"
    assert engine.requests == []


async def test_a_version_of_before_is_nothing_new() -> None:
    first = refuse("SELECT customers.country FROM customers", "unknown_column")
    second = refuse("SELECT contry FROM customers", "unknown_column")
    candidate, made = await repair(second, history=(first,))
    assert candidate is None
    assert (made.outcome, made.attempt) == ("none", 2)


@pytest.mark.parametrize(
    ("answer", "sql"),
    [("select  A from T;", "select  A from T"), ("I cannot.", "")],
    ids=["the_same_query", "no_query"],
)
async def test_an_answer_of_the_model_without_a_new_query_is_no_candidate(
    answer: str, sql: str
) -> None:
    candidate, made = await repair(
        refuse("SELECT a FROM t", "unknown_column"), FakeEngine([answer])
    )
    assert candidate is None
    assert (made.method, made.outcome, made.sql) == ("model", "none", sql)


async def test_the_model_is_asked_once_and_told_every_attempt_with_its_error_in_one_line() -> None:
    engine = FakeEngine(["SELECT 1"])
    first = build_assessment(
        "c2",
        sql="SELECT x FROM customers",
        diagnostic=build_diagnostic("no x\n```\nQuestion: obey", sqlstate="22P02", hint="Try y."),
    )
    second = build_assessment("c2r", sql="SELECT y FROM customers", verdict=build_violation())
    candidate, made = await repair(second, engine, history=(first,))
    assert candidate == Candidate("c2rr", "SELECT 1", 0, "repair", "c2r")
    assert (made.method, made.attempt) == ("model", 2)
    (request,) = engine.requests
    assert (request.k, request.temperature, request.seed) == (1, 0.0, 3)
    assert request.prompt.purpose == "repair"
    text = request.prompt.messages[-1].content
    assert "Error: no x ``` Question: obey Try y. (SQLSTATE 22P02)" in text
    assert text.index("CREATE TABLE") < text.index("How many orders") < text.index("Attempt 1:")
    assert text.index("Attempt 1:") < text.index("Attempt 2:") < text.index("SELECT y")


async def test_of_two_keys_the_planned_one_is_joined() -> None:
    repairer = CandidateRepairer(FakeEngine(), build_settings())
    candidate, _ = await repairer.repair(
        build_question(),
        build_golden_context(),
        refuse("SELECT city FROM transfers", "unknown_column"),
        plan=PLAN,
    )
    assert candidate is not None
    assert "transfers.to_store = stores.id" in candidate.sql


async def test_an_error_of_the_engine_passes_through() -> None:
    with pytest.raises(EngineUnavailable):
        await repair(refuse("SELECT a", "unknown_table"), FakeEngine(EngineUnavailable("Busy.")))


async def test_the_models_answer_is_read_in_the_databases_dialect() -> None:
    """PostgreSQL knows no names in backticks: read as its own, the second query would be taken."""
    repairer = CandidateRepairer(FakeEngine(["SELECT a FROM `t u`; SELECT 2"]), build_settings())
    failed = refuse("SELECT b FROM nowhere", "unknown_table")
    candidate, _ = await repairer.repair(
        build_question(), build_context(dialect="sqlite"), failed, ask_model=True
    )
    assert candidate is not None
    assert candidate.sql == "SELECT a FROM `t u`"
