"""Headings without SQL for who sees none: of outputs that have no name but their text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from serve_app.service.withholding import withhold_headings
from tests.fakes import build_result

SQL = """SELECT id, (SELECT max(sal)
FROM emp), a is null, salary-777, count(*) AS "Total (EUR)", "none such" FROM t"""


@pytest.mark.parametrize(
    "heading",
    [
        "(SELECT max(sal)\nFROM emp)",
        "(SELECT max(sal) FROM emp)",
        "a is null",
        "A IS NULL",
        "salary-777",
        "count_star()",
        "(salary - 777)",
        "CAST(a AS VARCHAR)",
        '"none such"',
        "a || 'x'",
    ],
)
def test_a_part_of_the_query_is_no_heading(heading: str) -> None:
    result = replace(build_result((1, 2)), columns=("id", heading))
    assert withhold_headings(result, SQL).columns == ("id", "column 2")


@pytest.mark.parametrize(
    "heading", ["id", "Total (EUR)", "count", "?column?", "Loyalty Tier", "1", "Größe in %"]
)
def test_a_name_stays(heading: str) -> None:
    result = replace(build_result((1, 2)), columns=(heading, "id"))
    assert withhold_headings(result, SQL) == result
