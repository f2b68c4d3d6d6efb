"""What the trace and the body show of linking, joins, lint, repairs and sampling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nl2sql.answers import Trace
from nl2sql.rendering import build_trace
from nl2sql.types import (
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


def test_a_trace_shows_the_asked_and_drawn_samples_and_every_prompt() -> None:
    prompts = tuple((name, Prompt("generate", (Message("user", name),))) for name in ("a", "b"))
    trace = render(k=0, prompt=prompts[0][1], prompts=prompts, ranking=Ranking(samples=6))
    assert (trace["k"], trace["samples"]) == (0, 6)
    assert trace["prompt"] == [{"role": "user", "content": "a"}]
    assert trace["prompts"]["b"] == [{"role": "user", "content": "b"}]
