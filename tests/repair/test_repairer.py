"""One attempt, by rule."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.types import Assessment, Candidate, Repair
from repair.repairer import CandidateRepairer
from tests.fakes import (
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
    failed: Assessment, *, history: tuple[Assessment, ...] = (), **flags: bool
) -> tuple[Candidate | None, Repair]:
    repairer = CandidateRepairer(build_settings(flags=flags))
    return await repairer.repair(build_question(), build_context(), failed, history=history)


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
    candidate, made = await repair(refuse("SELECT country FROM orders", code))
    assert candidate is None
    assert made.outcome == "none"


async def test_a_version_of_before_is_nothing_new() -> None:
    first = refuse("SELECT customers.country FROM customers", "unknown_column")
    second = refuse("SELECT contry FROM customers", "unknown_column")
    candidate, made = await repair(second, history=(first,))
    assert candidate is None
    assert (made.outcome, made.attempt) == ("none", 2)


async def test_an_error_of_several_lines_is_told_in_one() -> None:
    diagnostic = build_diagnostic("bad\nvalue", sqlstate="22P02")
    _, made = await repair(build_assessment("c2", diagnostic=diagnostic))
    assert made.cause == "bad value (SQLSTATE 22P02)"


async def test_of_two_keys_the_planned_one_is_joined() -> None:
    repairer = CandidateRepairer(build_settings())
    candidate, _ = await repairer.repair(
        build_question(),
        build_golden_context(),
        refuse("SELECT city FROM transfers", "unknown_column"),
        plan=PLAN,
    )
    assert candidate is not None
    assert "transfers.to_store = stores.id" in candidate.sql
