"""Reads the estimates of a PostgreSQL plan and refuses queries that expect too many rows.

The measure is the largest number of rows that any step of the plan is expected to process: its
output, or for a nested loop the pairs that it compares, which are the cost of a product of two
tables, however few pass its condition. A LIMIT stops the steps below it early if they pass rows on
one by one, so the first page of a large table is not a large query.

Knows EXPLAIN (FORMAT JSON) and nothing of connections. Does not cover wrong estimates of the
planner, a subquery run once for each row, and rows that a filter reads and drops. The time limit
ends those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from execution.error_disclosure import weigh_estimate
from nl2sql.types import Diagnostic, Explained

# Steps that read their input row by row, so that they stop early.
_STREAMING = frozenset(
    {
        "Append",
        "Gather",
        "Gather Merge",
        "Group",
        "Hash Join",
        "Limit",
        "Materialize",
        "Memoize",
        "Merge Append",
        "Merge Join",
        "Nested Loop",
        "ProjectSet",
        "Result",
        "Subquery Scan",
        "Unique",
    }
)
# The input that a step streams. An inner side is run repeatedly, or hashed completely.
_STREAMED = frozenset({"Outer", "Member", "Subquery"})


def estimate_rows(plan: Mapping[str, Any], wanted: float) -> float:
    """The most rows that a step is expected to process when ``wanted`` rows are fetched.

    ``plan`` is the ``Plan`` of EXPLAIN's JSON.

    >>> scan = {"Node Type": "Seq Scan", "Plan Rows": 1e9, "Parent Relationship": "Outer"}
    >>> estimate_rows({"Node Type": "Aggregate", "Plan Rows": 1, "Plans": [scan]}, 101)
    1000000000.0
    >>> estimate_rows({"Node Type": "Subquery Scan", "Plan Rows": 1e9, "Plans": [scan]}, 101)
    101.0
    """
    return _find_most(plan, min(1.0, wanted / max(float(plan["Plan Rows"]), 1.0)))


def weigh_plan(
    plan: Mapping[str, Any], wanted: float, most: int, *, restricted: bool
) -> Explained | Diagnostic:
    """The planner's estimate, or why the query should not be started; see ``weigh_estimate``."""
    explained = Explained(float(plan["Total Cost"]), float(plan["Plan Rows"]))
    rows = estimate_rows(plan, wanted)
    finding = "The query was not run: one step of its plan expects more rows"
    return weigh_estimate(finding, rows, most, explained, restricted=restricted)


def _find_most(node: Mapping[str, Any], share: float) -> float:
    """The most rows of a step; ``share`` is the fraction of the node's rows that is requested."""
    children = node.get("Plans", ())
    rows = float(node["Plan Rows"])
    most = rows * share
    kind = node["Node Type"]
    scans = 1.0
    if kind == "Nested Loop":
        sides = {child.get("Parent Relationship"): float(child["Plan Rows"]) for child in children}
        scans = share * sides.get("Outer", 1.0)
        most = max(most, scans * sides.get("Inner", 1.0))
    for child in children:
        side = child.get("Parent Relationship")
        streams = kind in _STREAMING and side in _STREAMED
        part = share if streams else 1.0
        if streams and kind == "Limit":
            part = min(1.0, share * rows / max(float(child["Plan Rows"]), 1.0))
        if side == "Inner" and kind == "Nested Loop":
            # Only the last scan ends early.
            part = min(1.0, scans)
        most = max(most, _find_most(child, part))
    return most
