"""What the trace and the body show of linking, joins, lint, repairs and sampling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nl2sql.answers import Attempt, Failed, Trace
from nl2sql.rendering import build_response, build_trace
from nl2sql.types import (
    Assessment,
    Candidate,
    Finding,
    GuardedQuery,
    JoinPlan,
    Message,
    Plan,
    Prompt,
    Ranking,
    Repair,
    SchemaLink,
    SchemaLinks,
)
from tests.fakes import SHOP, build_question


def render(*, k: int = 1, **trace: Any) -> dict[str, Any]:
    return build_trace(Trace(build_question(k=k), **trace)).model_dump()


def test_a_trace_shows_the_whole_plan() -> None:
    declared = SHOP.foreign_keys[0]
    inferred = replace(SHOP.foreign_keys[5], inferred=True)
    plan = Plan(
        links=SchemaLinks(
            (SchemaLink("spend", "sales.orders", "total", 0.9, "synonym"),),
            note="The model named nothing that exists",
        ),
        joins=JoinPlan(
            ("sales.orders", "sales.customers"),
            (declared, inferred),
            "FROM orders JOIN customers",
        ),
        columns=(("sales.orders", ("id", "total")),),
    )
    trace = render(plan=plan)
    assert trace["links"] == [
        {
            "phrase": "spend",
            "table": "sales.orders",
            "column": "total",
            "score": 0.9,
            "method": "synonym",
        }
    ]
    assert trace["linking"] == {
        "technique": "deterministic",
        "note": "The model named nothing that exists",
    }
    assert trace["columns"] == {"sales.orders": ["id", "total"]}
    assert trace["join_skeleton"] == "FROM orders JOIN customers"
    assert trace["inferred_joins"] == [
        "stock.returns(order_id, line_no) = sales.order_lines(order_id, line_no)"
    ]


def test_a_trace_without_a_plan_has_the_same_keys() -> None:
    trace = render()
    assert (trace["links"], trace["columns"]) == ([], {})
    assert trace["linking"] == {"technique": "", "note": ""}


def test_a_trace_shows_the_findings_of_lint() -> None:
    sql = "SELECT 1 LIMIT 1"
    finding = Finding("select_star", "warning", "All columns are selected.")
    assessment = Assessment(
        Candidate("c1", sql), GuardedQuery("shop", sql, ()), findings=(finding,)
    )
    (candidate,) = render(ranking=Ranking((assessment,)))["candidates"]
    assert candidate["findings"] == [
        {
            "rule": "select_star",
            "severity": "warning",
            "message": "All columns are selected.",
        }
    ]


def test_a_trace_shows_rules_class_attempt_and_risks_of_a_repair() -> None:
    repair = Repair(
        "c1",
        "There is no column x.",
        "model",
        "fixed",
        "SELECT y",
        rules=(),
        error_class="unknown_column",
        attempt=2,
        suggestion="Use columns.",
        risks=("x_number → x_name",),
    )
    (shown,) = render(repairs=(repair,))["repairs"]
    assert shown == {
        "candidate": "c1",
        "cause": "There is no column x.",
        "method": "model",
        "outcome": "fixed",
        "sql": "SELECT y",
        "rules": [],
        "error_class": "unknown_column",
        "attempt": 2,
        "risks": ["x_number → x_name"],
    }


def test_a_failure_lists_its_attempts() -> None:
    attempt = Attempt("SELECT x", "sample", "There is no column x.", "unknown_column", "Use y.")
    body = build_response(
        Failed("None.", Trace(build_question()), (attempt,)), trace=False
    ).model_dump()
    assert body["outcome"] == "failed"
    assert body["attempts"] == [
        {
            "sql": "SELECT x",
            "origin": "sample",
            "error": "There is no column x.",
            "error_class": "unknown_column",
            "suggestion": "Use y.",
        }
    ]


def test_a_trace_shows_the_asked_and_drawn_samples_and_every_prompt() -> None:
    prompts = tuple((name, Prompt("generate", (Message("user", name),))) for name in ("a", "b"))
    trace = render(k=0, prompt=prompts[0][1], prompts=prompts, ranking=Ranking(samples=6))
    assert (trace["k"], trace["samples"]) == (0, 6)
    assert trace["prompt"] == [{"role": "user", "content": "a"}]
    assert trace["prompts"]["b"] == [{"role": "user", "content": "b"}]


def test_a_refused_question_drew_no_samples() -> None:
    trace = render(k=0)
    assert (trace["samples"], trace["prompt"], trace["prompts"]) == (0, [], {})
