"""What a refusal says: what is not supported, in the database's words, and what to write."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import Violation
from tests.execution.expecting import expect
from tests.fakes import SHOP
from tests.golden import ARROW, load_cases

_OWN = "one of your own can be added under databases.NAME.allowlist"


@pytest.mark.parametrize(
    ("heading", "case"),
    [
        *load_cases("refusals"),
        # DuckDB reads it, but its tree is too deep for Python.
        ("duckdb", f"SELECT {'1 + ' * 700}1, id::INT.b FROM orders --> though DuckDB may"),
    ],
    ids=lambda value: value[:60],
)
def test_a_refusal_says_what_to_do(heading: str, case: str) -> None:
    dialect, _, own = heading.partition(" ")
    sql, _, said = case.partition(ARROW)
    access = open_access(replace(SHOP, dialect=dialect))
    message = expect(Violation, guard_query(sql, access)).message
    assert said in message, message
    assert not own or _OWN in message, message
