"""A question for what is late, and queries that can tell and cannot."""

from __future__ import annotations

import pytest

from ranking.confidence.lateness import misses_times
from ranking.query import read_query
from tests.fakes import CUSTOMERS, build_question
from tests.golden import ARROW, load_cases


@pytest.mark.parametrize(("found", "case"), load_cases("lateness"))
def test_what_is_late_takes_two_times(found: str, case: str) -> None:
    text, condition = case.split(ARROW)
    query = read_query(f"SELECT count(*) FROM customers WHERE {condition}", "postgres", [CUSTOMERS])
    assert query is not None
    assert misses_times(build_question(text=text), query) == (found == "misses")
