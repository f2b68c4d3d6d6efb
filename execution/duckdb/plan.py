"""Reads the estimates of a DuckDB plan and refuses joins of too many pairs of rows.

DuckDB estimates the rows of each step, and has no cost. Joins that compare every pair of rows of
their inputs are limited by the number of pairs. Joins by a key are not: their estimates can be a
thousand times too high if a side is grouped. Nor is a product whose rows pass only projections and
limits, since it stops after the first page.

Knows EXPLAIN (FORMAT JSON) and nothing of connections. Does not cover wrong estimates of the
planner, joins by inequality, and recursion. The limits of time and memory end those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from execution.error_disclosure import weigh_estimate
from nl2sql.sql.names import fold_name
from nl2sql.types import Diagnostic, Explained

# Joins that compare every pair of rows of their two inputs.
_PRODUCT = "CROSS_PRODUCT"
_PAIRING = frozenset({"BLOCKWISE_NL_JOIN", "NESTED_LOOP_JOIN", _PRODUCT})
# Steps that pass on rows one by one and drop none.
_STREAMING = frozenset({"LIMIT", "PROJECTION", "STREAMING_LIMIT"})

_NAME_PART = re.compile(r'"(?:[^"]|"")*"|[^".]+')

EXPLAIN = "EXPLAIN (FORMAT JSON) "

Plan = Mapping[str, Any]


def read_plan(text: str) -> Plan:
    """The root of the plan that EXPLAIN (FORMAT JSON) returned."""
    (root,) = json.loads(text)
    plan: Plan = root
    return plan


def list_scans(plan: Plan) -> frozenset[tuple[str, str]]:
    """Everything that the plan reads: each table, qualified and folded, alone and with its columns.

    The columns are those that a scan passes on. A step that has no input and scans no table stands
    in place of a column.

    >>> told = {"Table": 'm.s."a b"', "Projections": ["id", "Name"]}
    >>> sorted(list_scans({"name": "SEQ_SCAN", "children": [], "extra_info": told}))
    [('m.s.a b', ''), ('m.s.a b', 'id'), ('m.s.a b', 'name')]
    """
    found: set[tuple[str, str]] = set()
    for node in _walk(plan):
        told = node["extra_info"]
        if "Table" in told:
            written = "\n".join(_list_lines(told["Table"]))
            table = fold_name(".".join(_split_name(written)), "duckdb")
            # If rows are only counted, the name of the column has no letters.
            columns = ("", *_list_lines(told.get("Projections", ())))
            found |= {(table, fold_name(column, "duckdb")) for column in columns}
        elif not node["children"]:
            found.add(("", str(node["name"])))
    return frozenset(found)


def build_explained(plan: Plan) -> Explained:
    """``cost`` is the sum of the rows that all steps return, ``rows`` the most of one step.

    The sum is the cost function C_out of Cluet and Moerkotte (ICDT 1995), which compares plans
    without knowing the machine.

    >>> scan = {"name": "SEQ_SCAN", "children": [], "extra_info": {"Estimated Cardinality": "9"}}
    >>> build_explained({"name": "CROSS_PRODUCT", "children": [scan, scan], "extra_info": {}})
    Explained(cost=99.0, rows=81.0)
    """
    rows = [_estimate(node) for node in _walk(plan)]
    return Explained(cost=sum(rows), rows=max(rows))


def weigh_plan(plan: Plan, most: int, *, restricted: bool) -> Explained | Diagnostic:
    """DuckDB's estimate, or why the query should not be started; see ``weigh_estimate``."""
    explained = build_explained(plan)
    finding = "The query was not run: a join in its plan would look at more pairs of rows"
    return weigh_estimate(finding, estimate_pairs(plan), most, explained, restricted=restricted)


def estimate_pairs(plan: Plan) -> float:
    """The most pairs of rows that one join is expected to compare.

    >>> scan = {"name": "SEQ_SCAN", "children": [], "extra_info": {"Estimated Cardinality": "9"}}
    >>> product = {"name": "CROSS_PRODUCT", "children": [scan, scan], "extra_info": {}}
    >>> estimate_pairs(product)
    0.0
    >>> estimate_pairs({"name": "FILTER", "children": [product], "extra_info": {}})
    81.0
    """
    top = plan
    while top["name"] in _STREAMING and len(top["children"]) == 1:
        top = top["children"][0]
    pairing = (node for node in _walk(top) if node["name"] in _PAIRING)
    return max(
        (_multiply(node) for node in pairing if node is not top or node["name"] != _PRODUCT),
        default=0.0,
    )


def _list_lines(text: str | Sequence[str]) -> Sequence[str]:
    """The lines of a text; DuckDB returns several as a list."""
    return (text,) if isinstance(text, str) else text


def _split_name(name: str) -> tuple[str, ...]:
    """The parts of a qualified name, without their quotes."""
    return tuple(
        part[1:-1].replace('""', '"') if part.startswith('"') else part
        for part in _NAME_PART.findall(name)
    )


def _walk(plan: Plan) -> Iterator[Plan]:
    pending = [plan]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(node["children"])


def _estimate(node: Plan) -> float:
    """The rows of a step; if DuckDB gives no estimate, computed from the steps below."""
    told = node["extra_info"].get("Estimated Cardinality")
    if told is not None:
        return float(told)
    children = [_estimate(child) for child in node["children"]]
    if node["name"] in _PAIRING:
        return _multiply(node)
    return sum(children) if node["name"] == "UNION" else max(children, default=1.0)


def _multiply(node: Plan) -> float:
    pairs = 1.0
    for child in node["children"]:
        pairs *= _estimate(child)
    return pairs
