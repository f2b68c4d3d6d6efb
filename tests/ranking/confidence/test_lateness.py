"""A question for what is late, and queries that can tell and cannot."""

from __future__ import annotations

import pytest

from ranking.confidence.lateness import misses_times
from ranking.query import read_query
from tests.fakes import CUSTOMERS, build_question

SHIPPED_LATE = "How many orders were shipped late?"


@pytest.mark.parametrize(
    ("text", "condition", "misses"),
    [
        (SHIPPED_LATE, "shipped IS NOT NULL", True),
        (SHIPPED_LATE, "total > 5", True),
        (SHIPPED_LATE, "shipped > required", False),
        (SHIPPED_LATE, "is_late", False),
        (SHIPPED_LATE, "name = 'delayed'", False),
        ("Are all overdue?", "shipped IS NOT NULL", True),
        ("Show the orders placed in late 2024", "placed IS NOT NULL", False),
    ],
)
def test_what_is_late_takes_two_times(text: str, condition: str, misses: bool) -> None:
    query = read_query(f"SELECT count(*) FROM customers WHERE {condition}", "postgres", [CUSTOMERS])
    assert query is not None
    assert misses_times(build_question(text=text), query) == misses
