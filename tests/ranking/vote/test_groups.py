"""Which candidates vote together: equal results, equal pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from nl2sql.types import Assessment
from ranking.vote.groups import group_assessments
from tests.fakes import build_assessment, build_result


def list_groups(*assessments: Assessment) -> list[int]:
    return [assessment.group for assessment in group_assessments(assessments)]


def test_columns_may_stand_in_another_order_and_floats_may_differ_at_the_end() -> None:
    one = build_assessment("c1", rows=[(0.1 + 0.2, "a")])
    other = build_assessment("c2", rows=[("a", 0.3)])
    assert list_groups(one, other) == [0, 0]


def test_a_page_agrees_with_the_same_page_and_with_no_whole_result() -> None:
    results = (
        build_result((1,), (2,)),
        build_result((2,), (1,), truncated=True),
        build_result((1,), (2,), truncated=True),
    )
    assessments = [replace(build_assessment(), result=result) for result in results]
    assert list_groups(*assessments) == [0, 1, 1]


class CountedRows(tuple[tuple[object, ...], ...]):
    """Rows that count how often they are read."""

    reads = 0

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        self.reads += 1
        return super().__iter__()


@pytest.mark.parametrize("groups", [1, 4, 32])
def test_the_results_of_many_candidates_are_not_compared_pairwise(groups: int) -> None:
    rows = [CountedRows((cell, at % groups) for cell in range(9)) for at in range(32)]
    result = build_result((1, 1))
    assessments = [
        replace(build_assessment(f"c{at}"), result=replace(result, rows=found))
        for at, found in enumerate(rows)
    ]
    assert list_groups(*assessments) == [at % groups for at in range(32)]
    # Once each, and a second time beside the first of its group, which is read again for that.
    assert sum(found.reads for found in rows) <= 3 * 32


def test_what_was_not_run_stands_alone() -> None:
    late = [build_assessment(name, unrun="budget") for name in ("c1", "c2")]
    assert list_groups(*late) == [0, 1]
