"""The third reader by itself: plans are handed to it, and what a database answers is made up."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from psycopg import AsyncCursor

from execution.postgres.plan_verification import (
    READINGS_DISAGREE,
    PlanChecker,
    PlanNames,
    find_unexplained,
    read_names,
)
from execution.postgres.pool import Connection
from nl2sql.types import Diagnostic, GuardedQuery, SessionIdentity
from tests.event_loop_watch import EventLoopWatch
from tests.execution.expecting import expect

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


# -- what the tables of a query explain --------------------------------------------------------


class Answers:
    """The rows of one statement, and its first cell as it is sent."""

    def __init__(self, rows: list[tuple[Any, ...]], plan: Plan | None = None) -> None:
        self._rows = rows
        self._sent = json.dumps([{"Plan": plan}]).encode()

    @property
    def pgresult(self) -> Answers:
        return self

    def get_value(self, row: int, column: int) -> bytes:
        assert (row, column) == (0, 0)
        return self._sent

    async def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows


class Server:
    """Answers as PostgreSQL would for what the reader asks, and keeps what it was asked.

    ``brought`` are the plans of tables by themselves, ``predicates`` those of partial indexes.
    """

    # Without one, names are quoted as everywhere.
    connection = None

    def __init__(
        self,
        brought: Mapping[str, Plan] | None = None,
        predicates: Mapping[str, str] | None = None,
    ) -> None:
        self.explained: list[str] = []
        self._brought = brought or {}
        self._predicates = predicates or {}

    async def execute(self, statement: str | bytes, given: list[Any] | None = None) -> Answers:
        text = statement if isinstance(statement, str) else statement.decode()
        if text.startswith("EXPLAIN"):
            self.explained.append(text)
            return Answers([], self._brought[text.rpartition(" FROM ")[2].replace('"', "")])
        assert given is not None
        if "pg_index" in text:
            return Answers(
                [(self._predicates[name],) for name in given[1] if name in self._predicates]
            )
        return Answers([("id",), ("Odd Name",)] if given[0] in self._brought else [])


async def settle(
    reader: PlanChecker, plan: Plan, query: GuardedQuery, server: Server | None = None
) -> Diagnostic | None:
    """What the reader says of a plan."""
    planned = cast(AsyncCursor[Any], Answers([], plan))
    read, unexplained = await reader.read(planned, query)
    assert read == plan
    connection = cast(Connection, server or Server())
    return await reader.check_unexplained(connection, plan, unexplained, query)


async def test_a_long_plan_is_not_read_on_the_event_loop() -> None:
    quoted = " || ".join(["'text'::text"] * 100_000)
    watch = EventLoopWatch()
    planned = cast(AsyncCursor[Any], Answers([], scan("staff", f"a({quoted})")))
    async with watch.watch():
        _, unexplained = await PlanChecker(()).read(planned, QUERY)
    assert unexplained == PlanNames(functions=frozenset({"a"}))
    assert max(watch.own_pauses_ms) < 50, watch.describe()


async def test_what_nothing_explains_is_refused_logged_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reader = PlanChecker(())
    plan = step(scan("staff", "z(x)", "a(x)"), scan("secrets"), scan("accounts"))
    with caplog.at_level(logging.ERROR, logger="quorumsql.guard"):
        told = expect(Diagnostic, await settle(reader, plan, QUERY))
        untold = expect(Diagnostic, await settle(reader, plan, replace(QUERY, restricted=True)))
    assert told.sqlstate == untold.sqlstate == READINGS_DISAGREE
    assert "a, hr.accounts, hr.secrets, z" in told.message
    assert not any(name in untold.message for name in ("hr.", "True", "a, "))
    assert reader.alarms == len(caplog.records) == 2


async def test_what_a_table_brings_along_is_explained_by_it() -> None:
    reader = PlanChecker(())
    plan = step(scan("staff", "is_mine(staff.owner)"), scan("staff_2024"))
    server = Server({"hr.staff": plan})
    assert await settle(reader, plan, QUERY, server) is None
    assert 'SELECT "id", "Odd Name" FROM "hr"."staff"' in server.explained[0]
    for more in (scan("secrets"), scan("staff", "ts_stat(x)")):
        expect(Diagnostic, await settle(reader, step(plan, more), QUERY, server))
    assert reader.alarms == 2
    # Nor that it is read past its own filter; and one that the role may not read, nothing.
    expect(Diagnostic, await settle(reader, scan(), FILTERED, Server({"hr.staff": scan()})))
    expect(Diagnostic, await settle(reader, scan("part"), QUERY))


async def test_only_what_is_doubted_is_asked_and_what_was_told_is_kept_for_a_role() -> None:
    reader, server = PlanChecker(()), Server({"hr.staff": scan("part"), "hr.more": scan("more")})
    two = replace(QUERY, tables=("hr.staff", "hr.more"))
    other = replace(QUERY, session=SessionIdentity("other"))
    for plan, query, asked in (
        (scan(), QUERY, 0),
        # Not any more, once one of the tables has explained all.
        (scan("part"), two, 1),
        (scan("part"), QUERY, 1),
        (scan("part"), other, 2),
    ):
        assert await settle(reader, plan, query, server) is None
        assert len(server.explained) == asked


BY_INDEX = scan(Alias="_0", **{"Node Type": "Index Scan", "Index Name": "of_three"})


@pytest.mark.parametrize(
    ("plan", "predicates", "query", "is_explained"),
    [
        (BY_INDEX, {"of_three": "(dept = 3)"}, FILTERED, True),
        (step(BY_INDEX, {"Node Type": "Result"}), {"of_three": "(dept = 3)"}, FILTERED, True),
        (BY_INDEX, {"of_three": "(rank = 3)"}, FILTERED, False),
        (BY_INDEX, {"another": "(dept = 3)"}, FILTERED, False),
        (BY_INDEX, {}, FILTERED, False),
        (scan(Alias="_0"), {"of_three": "(dept = 3)"}, FILTERED, False),
        (BY_INDEX, {"of_three": "(dept = 3)"}, replace(FILTERED, tables=()), False),
        (step(BY_INDEX, scan("secrets")), {"of_three": "(dept = 3)"}, FILTERED, False),
    ],
)
async def test_the_condition_of_an_index_may_stand_for_a_filter(
    plan: Plan, predicates: Mapping[str, str], query: GuardedQuery, is_explained: bool
) -> None:
    server = Server({"hr.staff": scan()}, predicates)
    found = await settle(PlanChecker(()), plan, query, server)
    assert (found is None) == is_explained
