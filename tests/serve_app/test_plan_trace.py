"""What the trace tells of linking, joins and pruned columns."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.answers import Trace
from nl2sql.rendering import build_trace
from nl2sql.types import JoinPath, JoinPlan, Plan, SchemaLink, SchemaLinks
from tests.fakes import SHOP, build_question


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
            (JoinPath(("sales.orders",), (), "FROM orders"),),
        ),
        columns=(("sales.orders", ("id", "total")),),
    )
    trace = build_trace(Trace(build_question(), plan=plan)).model_dump()
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
    assert trace["join_alternatives"] == ["FROM orders"]
    assert trace["inferred_joins"] == [
        "stock.returns(order_id, line_no) = sales.order_lines(order_id, line_no)"
    ]


def test_a_trace_without_a_plan_has_the_same_keys() -> None:
    trace = build_trace(Trace(build_question())).model_dump()
    assert (trace["links"], trace["columns"], trace["join_alternatives"]) == ([], {}, [])
    assert trace["linking"] == {"technique": "", "note": ""}
