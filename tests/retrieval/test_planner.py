"""The planner stage: its flags, and that it tells of nothing but what it was shown."""

from __future__ import annotations

import time

import pytest

from nl2sql.catalog import Catalog
from retrieval.planner import SchemaPlanner
from tests.event_loop_watch import EventLoopWatch
from tests.fakes import (
    build_context,
    build_question,
    build_settings,
    build_table,
)

WIDE = build_table("s.wide", "id integer", *(f"c{at} integer" for at in range(40)), key=("id",))


def build_planner(**flags: object) -> SchemaPlanner:
    return SchemaPlanner(build_settings(flags=flags).flags)


@pytest.mark.parametrize(
    ("linker", "joins"), [(True, True), (True, False), (False, True), (False, False)]
)
async def test_each_part_can_be_switched_off(linker: bool, joins: bool) -> None:
    planner = build_planner(schema_linker=linker, join_planner=joins)
    plan = await planner.plan(build_question(text="orders of customers"), build_context())
    assert bool(plan.links) is linker
    assert bool(plan.joins.skeleton) is joins


async def test_wide_tables_are_not_compared_on_the_event_loop() -> None:
    columns = [f"part{at}_of_{at * 7} integer" for at in range(2000)]
    names = [f"s.wide{number}" for number in range(9)]
    context = build_context(Catalog("x", tuple(build_table(name, *columns) for name in names)))
    watch = EventLoopWatch()
    async with watch.watch():
        start = time.process_time()
        await build_planner().plan(build_question(text="wide tables by parts"), context)
        whole_ms = (time.process_time() - start) * 1000
    assert max(watch.computed_ms) < whole_ms / 3, watch.describe()


async def test_an_order_of_rows_names_no_orders() -> None:
    question = build_question(text="List customers in alphabetical order")
    plan = await build_planner().plan(question, build_context())
    assert {link.table for link in plan.links if not link.column} == {"sales.customers"}


@pytest.mark.parametrize(
    ("flag", "tables", "is_pruned"),
    [(True, 50, True), (True, 49, False), (False, 1000, False)],
    ids=["large", "small", "off"],
)
async def test_columns_are_pruned_in_large_databases(
    flag: bool, tables: int, is_pruned: bool
) -> None:
    context = build_context(Catalog("big", (WIDE,)), catalog_tables=tables)
    planner = build_planner(column_pruning=flag)
    plan = await planner.plan(build_question(text="wide c30"), context)
    assert bool(plan.columns) is is_pruned
    assert not is_pruned or "c30" in dict(plan.columns)["s.wide"]
