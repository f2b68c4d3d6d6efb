"""The third reader by itself: plans are handed to it, and what a database answers is made up."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from psycopg import AsyncCursor

from execution.postgres.plan_verification import READINGS_DISAGREE, PlanChecker, PlanNames
from execution.postgres.pool import Connection
from nl2sql.types import Diagnostic, GuardedQuery, SessionIdentity
from tests.event_loop_watch import EventLoopWatch
from tests.execution.expecting import expect

Plan = Mapping[str, Any]

QUERY = GuardedQuery("shop", "SELECT …", ("hr.staff",))
FILTERED = replace(QUERY, wrapped=True, filters=(("hr.staff", ("dept",)),))


def scan(relation: str, *outputs: str, **more: Any) -> Plan:
    return {
        "Node Type": "Seq Scan",
        "Schema": "hr",
        "Relation Name": relation,
        "Alias": relation,
        "Output": list(outputs),
        **more,
    }


def send(plan: Plan) -> Answers:
    return Answers([], json.dumps([{"Plan": plan}]).encode())


def join(*plans: Plan) -> Plan:
    return {"Node Type": "Nested Loop", "Join Type": "Inner", "Plans": list(plans)}


class Answers:
    """The rows of one statement, and its first cell as it is sent."""

    def __init__(self, rows: list[tuple[Any, ...]], sent: bytes = b"") -> None:
        self._rows = rows
        self._sent = sent

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
            table = text.rpartition(" FROM ")[2].replace('"', "")
            return send(self._brought[table])
        assert given is not None
        if "pg_index" in text:
            used = [predicate for name, predicate in self._predicates.items() if name in given[1]]
            return Answers([(predicate,) for predicate in used])
        return Answers([("id",), ("Odd Name",)] if given[0] in self._brought else [])


async def find_doubts(
    reader: PlanChecker, plan: Plan, query: GuardedQuery
) -> tuple[Plan, PlanNames]:
    return await reader.read(cast(AsyncCursor[Any], send(plan)), query)


async def settle(
    reader: PlanChecker, plan: Plan, query: GuardedQuery, server: Server | None = None
) -> Diagnostic | None:
    """What the reader says of a plan."""
    read, unexplained = await find_doubts(reader, plan, query)
    assert read == plan
    return await reader.check_unexplained(
        cast(Connection, server or Server()), plan, unexplained, query
    )


@pytest.mark.parametrize(
    ("plan", "query", "unexplained"),
    [
        (scan("staff", "upper(staff.name)"), QUERY, PlanNames()),
        (scan("secrets"), QUERY, PlanNames(frozenset({"hr.secrets"}))),
        (join(scan("staff"), scan("secrets")), QUERY, PlanNames(frozenset({"hr.secrets"}))),
        (scan("staff", "ts_stat(x)"), QUERY, PlanNames(functions=frozenset({"ts_stat"}))),
        (scan("staff", "f(x)"), replace(QUERY, functions=("lab.f",)), PlanNames()),
        (scan("staff"), FILTERED, PlanNames(frozenset({"hr.staff"}))),
        (scan("staff", Alias="_0", Filter="(_0.dept = 3)"), FILTERED, PlanNames()),
    ],
)
async def test_what_a_text_does_not_explain_is_doubted(
    plan: Plan, query: GuardedQuery, unexplained: PlanNames
) -> None:
    assert await find_doubts(PlanChecker({"upper"}), plan, query) == (plan, unexplained)


async def test_a_long_plan_is_not_read_on_the_event_loop() -> None:
    quoted = " || ".join(["'text'::text"] * 100_000)
    watch = EventLoopWatch()
    async with watch.watch():
        _, unexplained = await find_doubts(PlanChecker(()), scan("staff", f"a({quoted})"), QUERY)
    assert unexplained == PlanNames(functions=frozenset({"a"}))
    assert max(watch.own_pauses_ms) < 50, watch.describe()


async def test_what_nothing_explains_is_refused_logged_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reader = PlanChecker(())
    plan = join(scan("staff", "z(x)", "a(x)"), scan("secrets"), scan("accounts"))
    with caplog.at_level(logging.ERROR, logger="quorumsql.guard"):
        told = await settle(reader, plan, QUERY)
        untold = await settle(reader, plan, replace(QUERY, restricted=True))
    assert isinstance(told, Diagnostic)
    assert isinstance(untold, Diagnostic)
    # A class of SQLSTATE that PostgreSQL leaves to others: those that begin with I to Z, or 5 to 9.
    assert told.sqlstate == untold.sqlstate == READINGS_DISAGREE
    assert len(READINGS_DISAGREE) == 5
    assert READINGS_DISAGREE[0] in "56789IJKLMNOPQRSTUVWXYZ"
    assert "a, hr.accounts, hr.secrets, z" in told.message
    assert not any(name in untold.message for name in ("hr.", "True", "a, "))
    assert reader.alarms == len(caplog.records) == 2


async def test_what_a_table_brings_along_is_explained_by_it() -> None:
    reader = PlanChecker(())
    brings = join(scan("staff", "is_mine(staff.owner)"), scan("staff_2024"))
    plan = join(scan("staff", "is_mine(staff.owner)"), scan("staff_2024"))
    server = Server({"hr.staff": brings})
    assert await settle(reader, plan, QUERY, server) is None
    assert 'SELECT "id", "Odd Name" FROM "hr"."staff"' in server.explained[0]
    for more in (scan("secrets"), scan("staff", "ts_stat(x)")):
        expect(Diagnostic, await settle(reader, join(plan, more), QUERY, server))
    assert reader.alarms == 2


async def test_nothing_is_asked_where_nothing_is_doubted() -> None:
    server = Server({"hr.staff": scan("staff"), "hr.more": scan("more")})
    assert await settle(PlanChecker(()), scan("staff"), QUERY, server) is None
    assert server.explained == []
    # Nor any more, once one of the tables has explained all.
    server = Server({"hr.staff": scan("part"), "hr.more": scan("more")})
    two = replace(QUERY, tables=("hr.staff", "hr.more"))
    assert await settle(PlanChecker(()), scan("part"), two, server) is None
    assert len(server.explained) == 1


async def test_what_a_table_brings_along_is_remembered_for_a_while_and_for_one_role(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    reader, server = PlanChecker(()), Server({"hr.staff": scan("part")})

    async def count_questions(query: GuardedQuery) -> int:
        before = len(server.explained)
        assert await settle(reader, scan("part"), query, server) is None
        return len(server.explained) - before

    other = replace(QUERY, session=SessionIdentity("other"))
    assert await count_questions(QUERY) == 1
    assert await count_questions(QUERY) == 0
    assert await count_questions(other) == 1
    now += 30
    assert await count_questions(QUERY) == 0
    now += 60
    assert await count_questions(QUERY) == 1
    assert await count_questions(QUERY) == 0


async def test_a_table_does_not_explain_that_it_is_read_past_its_filter() -> None:
    server = Server({"hr.staff": scan("staff")})
    expect(Diagnostic, await settle(PlanChecker(()), scan("staff"), FILTERED, server))


async def test_a_table_that_the_role_may_not_read_explains_nothing() -> None:
    expect(Diagnostic, await settle(PlanChecker(()), scan("part"), QUERY))


BY_INDEX = scan("staff", Alias="_0", **{"Node Type": "Index Scan", "Index Name": "of_three"})


@pytest.mark.parametrize(
    ("plan", "predicates", "query", "is_explained"),
    [
        (BY_INDEX, {"of_three": "(dept = 3)"}, FILTERED, True),
        (join(BY_INDEX, {"Node Type": "Result"}), {"of_three": "(dept = 3)"}, FILTERED, True),
        (BY_INDEX, {"of_three": "(rank = 3)"}, FILTERED, False),
        (BY_INDEX, {"another": "(dept = 3)"}, FILTERED, False),
        (BY_INDEX, {}, FILTERED, False),
        (scan("staff", Alias="_0"), {"of_three": "(dept = 3)"}, FILTERED, False),
        (BY_INDEX, {"of_three": "(dept = 3)"}, replace(FILTERED, tables=()), False),
        (join(BY_INDEX, scan("secrets")), {"of_three": "(dept = 3)"}, FILTERED, False),
    ],
)
async def test_the_condition_of_an_index_may_stand_for_a_filter(
    plan: Plan, predicates: Mapping[str, str], query: GuardedQuery, is_explained: bool
) -> None:
    server = Server({"hr.staff": scan("staff")}, predicates)
    found = await settle(PlanChecker(()), plan, query, server)
    assert (found is None) == is_explained
