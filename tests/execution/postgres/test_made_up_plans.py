"""The third reader by itself: plans are handed to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from psycopg import AsyncCursor

from execution.postgres.plan_verification import (
    PlanChecker,
    PlanNames,
    find_unexplained,
    read_names,
)
from nl2sql.types import GuardedQuery
from tests.event_loop_watch import EventLoopWatch

Plan = Mapping[str, Any]

QUERY = GuardedQuery("shop", "SELECT …", ("hr.staff",))
WRAPPED = replace(QUERY, wrapped=True)
FILTERED = replace(WRAPPED, filters=(("hr.staff", ("dept", "Odd Name")),))


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
        assert read_names(step({"Node Type": "Result", key: value})).functions == {"f"}


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


@pytest.mark.parametrize(
    ("plan", "query", "unexplained"),
    [
        (scan("staff", "upper(staff.name)"), QUERY, PlanNames()),
        (scan("f(x)"), QUERY, PlanNames(frozenset({"hr.f(x)"}))),
        (step(scan(), scan("secrets")), QUERY, PlanNames(frozenset({"hr.secrets"}))),
        (scan("staff", "ts_stat(x)"), QUERY, PlanNames(functions=frozenset({"ts_stat"}))),
        # A function on the search path shows without its schema.
        (scan("staff", "f(x)", "lab.f(x)"), replace(QUERY, functions=("lab.f",)), PlanNames()),
        (scan(), QUERY, PlanNames()),
    ],
)
def test_what_a_text_does_not_explain_is_doubted(
    plan: Plan, query: GuardedQuery, unexplained: PlanNames
) -> None:
    assert find_unexplained(plan, query, {"upper"}) == unexplained


@pytest.mark.parametrize(
    ("plan", "query", "is_behind"),
    [
        (scan(Alias="_0", Filter="(_0.dept = '3'::bigint)"), FILTERED, True),
        (scan(Alias="_0", Filter='(_0."Odd Name" = 3)'), FILTERED, True),
        (scan(Alias="_0_1", Filter="(_0_1.dept = 3)"), FILTERED, True),
        (step(scan(Alias="_0"), **{"Hash Cond": "(_0.dept = _1.id)"}), FILTERED, True),
        (scan(Alias="_0"), WRAPPED, True),
        (scan(Alias="s"), WRAPPED, False),
        (scan(Alias="_0"), FILTERED, False),
        (scan("staff", "_0.dept", Alias="_0"), FILTERED, False),
        (scan(Alias="_0", Filter="(_0.name = 'x'::text)"), FILTERED, False),
        (scan(Alias="_0", Filter="(_0_1.dept = 3)"), FILTERED, False),
        (scan(Alias="_0", Filter="(_0.dept2 = 3)"), FILTERED, False),
        (step(scan("staff", "_0.dept", Alias="_0")), FILTERED, False),
        (scan(Alias="s", Filter="(s.dept = 3)"), FILTERED, False),
    ],
)
def test_a_wrapped_table_stands_behind_its_filter(
    plan: Plan, query: GuardedQuery, is_behind: bool
) -> None:
    found = find_unexplained(plan, query, ()).relations
    assert found == (frozenset() if is_behind else {"hr.staff"})


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
        _, unexplained = await PlanChecker(()).read(planned, QUERY)
    assert unexplained == PlanNames(functions=frozenset({"a"}))
    assert max(watch.own_pauses_ms) < 50, watch.describe()
