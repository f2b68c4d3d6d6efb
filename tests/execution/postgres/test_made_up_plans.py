"""The third reader by itself: plans are handed to it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from psycopg import AsyncCursor

from execution.postgres.plan_verification import (
    PlanChecker,
    find_unexplained,
    read_names,
)
from nl2sql.types import GuardedQuery
from tests.event_loop_watch import EventLoopWatch

Plan = Mapping[str, Any]

QUERY = GuardedQuery("shop", "SELECT …", ("hr.staff",))


def step(*plans: Plan, **told: Any) -> Plan:
    return {"Node Type": "Limit", "Join Type": "Inner", "Plans": list(plans), **told}


def scan(relation: str = "staff", *outputs: str, **more: Any) -> Plan:
    names = {"Schema": "hr", "Relation Name": relation, "Alias": relation}
    return {"Node Type": "Seq Scan", **names, "Output": list(outputs), **more}


# -- what a plan reads and calls ---------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    ["Output", "Filter", "Index Cond", "Sort Key", "Function Call", "Window", "Run Condition"],
)
def test_an_expression_is_read_wherever_it_stands(key: str) -> None:
    for value in ("f(x)", [["f(x)"]]):
        assert read_names(step({"Node Type": "Result", key: value})) == {"f()"}


@pytest.mark.parametrize(
    ("key", "word"),
    [
        *(
            (f"{kind} Name", "f(x)")
            for kind in ("CTE", "Function", "Index", "Subplan", "Table Function", "Tuplestore")
        ),
        ("Custom Plan Provider", "f(x)"),
        ("Sampling Method", "f(x)"),
        ("Command", "Intersect All"),
        ("Join Type", "Right Anti"),
        ("Node Type", "SetOp"),
        ("Partial Mode", "Finalize"),
        ("Scan Direction", "NoMovement"),
    ],
)
def test_a_name_or_word_is_no_expression(key: str, word: str) -> None:
    assert not read_names(step({"Node Type": "Result", key: word}))


def test_a_function_on_the_search_path_shows_without_its_schema() -> None:
    plan, query = scan("staff", "f(x)", "lab.f(x)"), replace(QUERY, functions=("lab.f",))
    assert not find_unexplained(plan, query, ())


# -- reading -----------------------------------------------------------------------------------


class Sent:
    """A result that holds one plan, as PostgreSQL sends it."""

    def __init__(self, plan: Plan) -> None:
        self.pgresult = self
        self._sent = json.dumps([{"Plan": plan}]).encode()

    def get_value(self, row: int, column: int) -> bytes:
        assert (row, column) == (0, 0)
        return self._sent


async def test_a_long_plan_is_not_read_on_the_event_loop() -> None:
    quoted = " || ".join(["'text'::text"] * 100_000)
    watch = EventLoopWatch()
    planned = cast(AsyncCursor[Any], Sent(scan("staff", f"a({quoted})")))
    async with watch.watch():
        start = time.process_time()
        _, unexplained = await PlanChecker(()).read(planned, QUERY)
        whole_ms = (time.process_time() - start) * 1000
    assert unexplained == {"a()"}
    # Of what all threads computed; on the loop it would be nearly all.
    assert max(watch.computed_ms) < whole_ms / 3, watch.describe()
