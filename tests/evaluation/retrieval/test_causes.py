"""Each miss has the first cause that holds."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.retrieval.causes import CAUSES, find_cause
from evaluation.retrieval.records import MissedTable


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        ({"namesake": "b.orders", "rank": 13, "neighbour": "a.lines"}, "namesake"),
        ({"rank": 24, "neighbour": "a.lines"}, "just_outside"),
        ({"rank": 25, "neighbour": "a.lines"}, "key_away"),
        ({"schema_shown": True}, "no_word"),
        ({"shared_words": ("order",)}, "other_schema"),
        ({"shared_words": ("order",), "schema_shown": True}, "outranked"),
    ],
)
def test_a_miss_has_one_cause(facts: dict[str, Any], cause: str) -> None:
    assert find_cause(MissedTable(table="a.orders", **facts), budget=12).name == cause


def test_every_cause_has_a_name_of_its_own() -> None:
    assert len({cause.name for cause in CAUSES}) == len(CAUSES)
