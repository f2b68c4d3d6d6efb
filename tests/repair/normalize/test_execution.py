"""What the rules write runs, on all three databases, and gives the rows that were meant."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

import pytest

from tests.repair.normalize.conftest import Run
from tests.repair.normalize.goldens import GOLDENS, IDS, Golden


@pytest.mark.parametrize("golden", GOLDENS, ids=IDS)
def test_a_golden_query_runs(golden: Golden, engines: Mapping[str, Run]) -> None:
    rows = [[_plain(value) for value in row] for row in engines[golden.target](golden.after)]
    if golden.rows is not None:
        expected = [[_plain(value) for value in row] for row in golden.rows]
        assert sorted(rows, key=str) == sorted(expected, key=str)


def _plain(value: object) -> object:
    """The value as all three databases would give it."""
    if isinstance(value, bool | int | float | Decimal):
        return round(float(value), 6)
    return str(value) if isinstance(value, date) else value
