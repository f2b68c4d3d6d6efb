"""What analysts write passes the guard with its meaning unchanged (golden: fixtures/guard.sql)."""

from __future__ import annotations

import pytest

from tests.execution.judging import pass_guard
from tests.golden import Pair, load_pairs

PAIRS = load_pairs("guard")


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])
def test_a_harmless_query_keeps_its_meaning(pair: Pair) -> None:
    """And is the same when it is guarded again."""
    query = pass_guard(pair.before)
    assert query.sql == pair.after
    assert pass_guard(query.sql) == query
