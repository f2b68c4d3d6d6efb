"""The planner stage and its two flags."""

from __future__ import annotations

import pytest

from retrieval.planner import SchemaPlanner
from tests.fakes import build_context, build_question, build_settings


@pytest.mark.parametrize(
    ("linker", "joins"), [(True, True), (True, False), (False, True), (False, False)]
)
async def test_each_part_can_be_switched_off(linker: bool, joins: bool) -> None:
    flags = build_settings(flags={"schema_linker": linker, "join_planner": joins}).flags
    plan = await SchemaPlanner(flags).plan(
        build_question(text="orders of customers"), build_context()
    )
    assert bool(plan.links.links) is linker
    assert bool(plan.joins.skeleton) is joins
