"""What a plan of DuckDB's expects, and whether that is too much to start.

DuckDB estimates how many rows each step gives, and has no cost. What must not start are joins that
look at every pair of rows of their inputs, and the measure is how many pairs those are. Joins by a
key are left out: their estimates can be a thousand times too high where a side was grouped before.
So is a product whose rows go out as they come, through nothing but projections and limits, since it
stops after the first page.

Knows EXPLAIN (FORMAT JSON) and nothing of connections. What it does not cover: what the planner
misjudges, joins by inequality, and recursion. The limits of time and memory end those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nl2sql.types import Diagnostic, Explained

TOO_COMPLEX = "54001"

# Joins that look at every pair of rows of their two inputs.
_PRODUCT = "CROSS_PRODUCT"
_PAIRING = frozenset({"BLOCKWISE_NL_JOIN", "NESTED_LOOP_JOIN", _PRODUCT})
# Steps that hand on rows one by one and drop none.
_STREAMING = frozenset({"LIMIT", "PROJECTION", "STREAMING_LIMIT"})

_NAME_PART = re.compile(r'"(?:[^"]|"")*"|[^".]+')

Plan = Mapping[str, Any]


def read_plan(text: str) -> Plan:
    """The root of the plan that EXPLAIN (FORMAT JSON) wrote."""
    (root,) = json.loads(text)
    plan: Plan = root
    return plan


@dataclass(frozen=True, slots=True)
class Leaf:
    """A step with nothing below it; ``table`` is what it scans, as catalog, schema and name.

    ``columns`` are those of the table that it hands on.
    """

    name: str
    table: tuple[str, ...]
    columns: tuple[str, ...] = ()


def list_leaves(plan: Plan) -> tuple[Leaf, ...]:
    """What the plan reads.

    >>> told = {"Table": 'm.s."a b"', "Projections": ["id", "name"]}
    >>> list_leaves({"name": "SEQ_SCAN", "children": [], "extra_info": told})
    (Leaf(name='SEQ_SCAN', table=('m', 's', 'a b'), columns=('id', 'name')),)
    """
    return tuple(
        Leaf(
            str(node["name"]),
            _split_name(_join_lines(node["extra_info"].get("Table", ""))),
            _list_columns(node["extra_info"].get("Projections", ())),
        )
        for node in _walk(plan)
        if not node["children"] or "Table" in node["extra_info"]
    )


def build_explained(plan: Plan) -> Explained:
    """``cost`` is the sum of the rows that all steps give, ``rows`` the most that one gives.

    The sum is the cost function C_out of Cluet and Moerkotte (ICDT 1995), which plans are compared
    by where nothing is known of the machine.

    >>> scan = {"name": "SEQ_SCAN", "children": [], "extra_info": {"Estimated Cardinality": "9"}}
    >>> build_explained({"name": "CROSS_PRODUCT", "children": [scan, scan], "extra_info": {}})
    Explained(cost=99.0, rows=81.0, plan='')
    """
    rows = [_estimate(node) for node in _walk(plan)]
    return Explained(cost=sum(rows), rows=max(rows))


def check_estimate(plan: Plan, most: int, *, restricted: bool) -> Diagnostic | None:
    """Why the query should not be started, or None.

    Whoever is ``restricted`` is not told the estimate: it counts rows that are withheld.
    """
    pairs = estimate_pairs(plan)
    if pairs <= most:
        return None
    expected = "" if restricted else f" ({pairs:.3g})"
    return Diagnostic(
        TOO_COMPLEX,
        f"The query was not run: a join in its plan would look at more pairs of rows{expected} "
        f"than the {most:,} allowed.",
        hint="Join tables on their keys, narrow each table down before joining, or raise "
        "limits.max_estimated_rows.",
    )


def estimate_pairs(plan: Plan) -> float:
    """The most pairs that one join is expected to look at.

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


def _join_lines(text: str | list[str]) -> str:
    """A text of several lines, which DuckDB gives as a list of them."""
    return text if isinstance(text, str) else "\n".join(text)


def _list_columns(told: str | Sequence[str]) -> tuple[str, ...]:
    # Where rows are only counted, a name without a letter stands here.
    return tuple(name for name in ((told,) if isinstance(told, str) else told) if name)


def _split_name(name: str) -> tuple[str, ...]:
    """The parts of a qualified name, out of their quotes."""
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
    """The rows of a step; what DuckDB does not say follows from the steps below."""
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
