"""The largest number of rows that a plan goes through, on plans as EXPLAIN writes them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from execution.postgres.plan import estimate_rows, weigh_plan
from nl2sql.types import TOO_COMPLEX, Diagnostic, Explained, GuardedQuery, SessionIdentity
from tests.execution.expecting import expect

Node = dict[str, Any]


def node(kind: str, rows: float, *plans: Node, side: str = "Outer") -> Node:
    return {
        "Node Type": kind,
        "Plan Rows": rows,
        "Total Cost": rows,
        "Parent Relationship": side,
        **({"Plans": list(plans)} if plans else {}),
    }


SCAN = node("Seq Scan", 1e9)
INNER = node("Seq Scan", 2e4, side="Inner")
READ_WHOLE = node("Result", 1, node("Seq Scan", 1e6), side="Inner")
LOOP = node("Nested Loop", 5.0, node("Seq Scan", 1e5), INNER)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        # An aggregate reads all; pairs count even if few pass.
        (node("Aggregate", 1, SCAN), 1e9),
        (node("Aggregate", 1, LOOP), 2e9),
        # A page stops what it reads, unless something is sorted or built whole before.
        (SCAN, 101),
        (node("Limit", 10, SCAN), 10),
        (node("Limit", 10, node("Sort", 1e9, SCAN)), 1e9),
        (node("Limit", 10, node("Nested Loop", 1e9, node("Seq Scan", 1e5), INNER)), 20),
        (
            node("Limit", 10, node("Hash Join", 1e6, SCAN, node("Hash", 3e8, side="Inner"))),
            3e8,
        ),
        (node("Result", 1, node("Aggregate", 1, SCAN, side="InitPlan")), 1e9),
        (node("Append", 2e6, node("Seq Scan", 1e6, side="Member"), side="Outer"), 101),
        (node("Result", 0), 0),
        # A filter that streams reads its share.
        (node("Subquery Scan", 1010, SCAN), 1e8),
        (node("Limit", 10, node("Sort", 1e9, SCAN), side="Outer"), 1e9),
        (node("Limit", 10, node("Append", 1e9, node("Seq Scan", 1e9, side="InitPlan"))), 1e9),
        # A loop looks at pairs; a page of many that pass stops it.
        (node("Nested Loop", 2e3, node("Seq Scan", 50), node("Seq Scan", 40, side="Inner")), 101),
        (node("Nested Loop", 5, node("Seq Scan", 50), node("Seq Scan", 40, side="Inner")), 2000),
        # An inner side is read whole and not more.
        (node("Aggregate", 1, node("Nested Loop", 5, node("Seq Scan", 50), READ_WHOLE)), 1e6),
    ],
)
def test_the_busiest_step_counts(plan: Node, expected: float) -> None:
    assert estimate_rows(plan, 101) == pytest.approx(expected, rel=0.01)


def test_too_much_is_an_error_that_says_what_to_do() -> None:
    plan = node("Aggregate", 1, SCAN)
    assert isinstance(weigh_plan(plan, 101, 10**9, restricted=False), Explained)
    refused = expect(Diagnostic, weigh_plan(plan, 101, 10**9 - 1, restricted=False))
    assert refused.sqlstate == TOO_COMPLEX
    assert "1e+09" in refused.message
    assert "999,999,999 allowed" in refused.message
    assert "max_estimated_rows" in refused.hint
    # It is not told to whom rows are withheld from.
    withheld = expect(Diagnostic, weigh_plan(plan, 101, 10**6, restricted=True))
    assert "1e+09" not in withheld.message


def test_a_plan_is_remembered_for_the_very_query() -> None:
    query = GuardedQuery("shop", "SELECT 1", ())
    recent = {query}
    assert replace(query) in recent
    assert replace(query, params=(1,)) not in recent
    assert replace(query, session=SessionIdentity("other")) not in recent
