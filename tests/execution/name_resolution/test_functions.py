"""What the columns of a function in FROM are called, on each database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import GuardedQuery
from tests.fakes import SHOP

PARTS = {"key", "value", "type", "atom", "id", "parent", "fullkey", "path"}
OUTPUTS = {
    "postgres": {
        "json_array_elements": {"value"},
        "json_array_elements_text": {"value"},
        "json_each": {"key", "value"},
        "json_each_text": {"key", "value"},
        "jsonb_array_elements": {"value"},
        "jsonb_array_elements_text": {"value"},
        "jsonb_each": {"key", "value"},
        "jsonb_each_text": {"key", "value"},
        "jsonb_object_keys": {"j"},
        "generate_series": {"j"},
    },
    "sqlite": {"json_each": PARTS, "json_tree": PARTS},
    "duckdb": {"json_each": PARTS, "json_tree": PARTS, "range": {"j"}, "generate_series": {"j"}},
}


@pytest.mark.parametrize("dialect", OUTPUTS)
def test_only_a_functions_own_columns_pass(dialect: str) -> None:
    access = open_access(replace(SHOP, dialect=dialect))
    for function, outputs in OUTPUTS[dialect].items():
        arguments = "1, 3" if function in ("range", "generate_series") else "'[]'"
        # Capitals change nothing.
        for call in (f"{function}({arguments})", f"{function.upper()}({arguments})"):
            passing = {
                name
                for name in (*PARTS, "j", "json", "root", "rowid")
                if isinstance(
                    guard_query(f"SELECT j.{name} FROM {call} AS j", access), GuardedQuery
                )
            }
            assert passing == outputs, call


def test_the_name_of_a_function_of_ones_own_is_folded() -> None:
    sql = "SELECT d.jsonb_typeof FROM (SELECT JSONB_TYPEOF('1')) AS d"
    assert isinstance(guard_query(sql, open_access(SHOP)), GuardedQuery)
