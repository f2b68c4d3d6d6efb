"""Without the fence the errors of withheld rows come through: it is what holds them back."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from nl2sql.types import Diagnostic, GuardedQuery, ResultSet
from tests.attacks.attack import equal_rows, one_column
from tests.attacks.everywhere import ENGINES
from tests.attacks.guarded import GuardedWay
from tests.attacks.scratch import PRINCIPALS, WITHHELD

# An error for the line 102, which belongs to another department by two hops. A planner that may
# looks at the line itself before it looks for its order.
_CONDITIONS = {
    "postgres": "1 / (id - 102) IS NOT NULL",
    "sqlite": "abs(-9223372036854775807 - (id = 102)) > 0",
    "duckdb": "instr(product, 'x') >= 0 AND 1 % (id - 102) IS NOT NULL",
}
# DuckDB 2.0.0 let the error through without the fence, too; 2.0.1 keeps a condition that can fail
# behind the filter, but promises nothing.
_SQLSTATES = {"postgres": "22012", "sqlite": "22003"}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_fence_keeps_a_condition_from_a_withheld_row(
    engine: str, guarded: Mapping[str, GuardedWay]
) -> None:
    way = guarded[engine]
    sql = f"SELECT product FROM order_lines WHERE {_CONDITIONS[engine]}"

    fenced = way.guard(sql, PRINCIPALS["manager"])
    assert isinstance(fenced, GuardedQuery)
    result = way.execute(fenced)
    assert isinstance(result, ResultSet), result
    assert equal_rows(result.rows, one_column("bolt", "nut"))

    if engine not in _SQLSTATES:
        return
    bare = way.guard(sql, PRINCIPALS["manager"], barrier=False)
    assert isinstance(bare, GuardedQuery)
    betrayed = way.execute(bare)
    assert isinstance(betrayed, Diagnostic), betrayed
    assert betrayed.sqlstate == _SQLSTATES[engine]
    # That there is such a row is out then; what it holds is not.
    assert not [text for text in WITHHELD if text in f"{betrayed.message} {betrayed.hint}"]
