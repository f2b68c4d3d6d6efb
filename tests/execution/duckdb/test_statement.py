"""The check of a statement and of its plan, each by itself, with plans as DuckDB writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from execution.allowlists import load_allowlist
from execution.duckdb.file import OpenFile, open_file
from execution.duckdb.plan import build_explained, estimate_pairs, weigh_plan
from execution.duckdb.statement import check_plan, check_query
from nl2sql.duckdb_files import ATTACHED
from nl2sql.types import Diagnostic, GuardedQuery
from tests.execution.duckdb.shop import LIMITS, query, write
from tests.execution.expecting import expect
from tests.golden import load_cases

Node = dict[str, Any]
ALLOWED = load_allowlist("duckdb")


_CONTENTS = """
CREATE TABLE secrets (id INT, word TEXT, pay INT, ay INT, twice INT AS (pay * 2), third INT AS (#3)
);
CREATE VIEW totals AS SELECT version(), id FROM secrets ORDER BY word;
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[OpenFile]:
    """One with a macro ``upper``, generated columns, and a view that calls what no query may."""
    path = tmp_path / "file.duckdb"
    write(path, f"CREATE MACRO upper(x) AS x; CREATE MACRO today() AS 1; {_CONTENTS}")
    opened = open_file("shop", path, LIMITS)
    yield opened
    opened.instance.close()


@pytest.mark.parametrize(
    ("state", "sql"),
    [*load_cases("statements_duckdb"), ("54001", "SELECT " + "abs(" * 400 + "1" + ")" * 400)],
)
def test_why_a_statement_must_not_run(state: str, sql: str, file: OpenFile) -> None:
    found = check_query(query(sql, "main.orders"), file, ALLOWED)
    assert (found.sqlstate if found else "runs") == state, found


def scan(table: str, *columns: str, name: str = "SEQ_SCAN", rows: float | None = None) -> Node:
    told: dict[str, Any] = {"Table": table} if table else {}
    if columns:
        told["Projections"] = list(columns)
    if rows is not None:
        told["Estimated Cardinality"] = str(rows)
    return {"name": name, "children": [], "extra_info": told}


def step(name: str, *children: Node, rows: float | None = None) -> Node:
    told = {} if rows is None else {"Estimated Cardinality": str(rows)}
    return {"name": name, "children": list(children), "extra_info": told}


@pytest.mark.parametrize("name", ["DUMMY_SCAN", "CTE_SCAN", "UNNEST", "RANGE", "EMPTY_RESULT"])
def test_what_reads_nothing_may_stand_in_a_plan(name: str, file: OpenFile) -> None:
    plan = step("PROJECTION", scan("", name=name))
    assert check_plan(plan, query("", "main.orders"), file) is None


PLANS: list[tuple[Node, bool]] = [
    (scan(f"{ATTACHED}.main.orders"), True),
    (scan(f"{ATTACHED}.main.ORDERS"), True),
    (scan(f'{ATTACHED}.main."orders"'), True),
    (scan(f"{ATTACHED}.main.secrets"), False),
    (scan(f"{ATTACHED}.staff.orders"), False),
    (scan("other.main.orders"), False),
    (scan("", name="READ_CSV"), False),
    (step("FILTER", scan(f"{ATTACHED}.main.orders"), scan("", name="READ_CSV")), False),
    (step("FILTER", scan(f"{ATTACHED}.main.orders"), scan(f"{ATTACHED}.main.x")), False),
]


@pytest.mark.parametrize(("plan", "is_allowed"), PLANS)
def test_a_plan_reads_the_tables_of_the_query_only(
    plan: Node, is_allowed: bool, file: OpenFile
) -> None:
    found = check_plan(plan, query("", "main.orders"), file)
    assert (found is None) == is_allowed
    assert found is None or found.sqlstate == "42501"


def test_a_view_or_generated_column_may_read_what_it_reads_and_nothing_else(
    file: OpenFile,
) -> None:
    def may_read(asked: GuardedQuery, column: str, table: str = f"{ATTACHED}.main.secrets") -> bool:
        return check_plan(scan(table, column), asked, file) is None

    view = replace(query("", "main.totals"), reads=frozenset({"main.totals.id"}))
    assert [may_read(view, column) for column in ("id", "Word", "pay")] == [True, True, False]
    assert not may_read(view, "id", "other.main.secrets")
    assert not may_read(view, "id", f"{ATTACHED}.main.orders")
    # Nor columns whose names are parts of the text of a generated one.
    for column, is_read in (("twice", True), ("third", True), ("word", False)):
        reads = frozenset({"main.secrets.id", f"main.secrets.{column}"})
        asked = replace(query("", "main.secrets"), reads=reads)
        assert [may_read(asked, read) for read in ("pay", "ay")] == [is_read, False]


READ = ("main.orders id", "main.orders ID", "main.orders place.city", "main.orders odd")


@pytest.mark.parametrize("read", [*READ, "main.orders total", "main.orders places"])
def test_a_plan_reads_the_columns_of_the_query_only(read: str, file: OpenFile) -> None:
    table, column = read.split()
    # A plan lists the lines of a name as names.
    reads = frozenset({"main.orders.id", "main.orders.place", "main.orders.very\nodd"})
    asked = replace(query("", table), reads=reads)
    assert (check_plan(scan(f"{ATTACHED}.{table}", column), asked, file) is None) == (read in READ)
    assert check_plan(scan(f"{ATTACHED}.{table}", column), query("", table), file) is None


TEN, TWENTY = scan("a.b.c", rows=10), scan("a.b.d", rows=20)


@pytest.mark.parametrize(
    ("plan", "pairs"),
    [
        (TEN, 0.0),
        (step("HASH_JOIN", TEN, TWENTY), 0.0),
        (step("NESTED_LOOP_JOIN", TEN, TWENTY), 200.0),
        (step("BLOCKWISE_NL_JOIN", TEN, TWENTY), 200.0),
        (step("CROSS_PRODUCT", TEN, TWENTY), 0.0),
        (step("PROJECTION", step("CROSS_PRODUCT", TEN, TWENTY)), 0.0),
        (step("PROJECTION"), 0.0),
        (step("LIMIT", step("STREAMING_LIMIT", step("CROSS_PRODUCT", TEN, TWENTY))), 0.0),
        (step("PROJECTION", step("NESTED_LOOP_JOIN", TEN, TWENTY)), 200.0),
        (step("FILTER", step("CROSS_PRODUCT", TEN, TWENTY)), 200.0),
        (step("UNION", step("CROSS_PRODUCT", TEN, TWENTY), TEN), 200.0),
        (step("CROSS_PRODUCT", step("CROSS_PRODUCT", TEN, TWENTY), TEN), 200.0),
        (step("FILTER", step("CROSS_PRODUCT", step("UNION", TEN, TWENTY), TEN)), 300.0),
        (step("FILTER", step("CROSS_PRODUCT", step("HASH_JOIN", TEN, TWENTY), TEN)), 200.0),
        (step("FILTER", step("CROSS_PRODUCT", step("DUMMY_SCAN"), TEN)), 10.0),
        (step("FILTER", step("CROSS_PRODUCT", step("FILTER", TEN, rows=3), TEN)), 30.0),
        (step("FILTER", step("CROSS_PRODUCT", step("CROSS_PRODUCT", TEN, TEN), TEN)), 1000.0),
    ],
)
def test_pairs_that_a_join_looks_at(plan: Node, pairs: float) -> None:
    assert estimate_pairs(plan) == pairs


def test_a_plan_of_too_many_pairs_is_refused_and_says_so_to_whom_it_may() -> None:
    plan = step("FILTER", step("CROSS_PRODUCT", TEN, TWENTY))
    assert weigh_plan(plan, 200, restricted=False) == build_explained(plan)
    told = expect(Diagnostic, weigh_plan(plan, 199, restricted=False))
    assert told.explained == build_explained(plan)
    assert told.sqlstate == "54001"
    assert "(200)" in told.message
    assert "199 allowed" in told.message
    withheld = expect(Diagnostic, weigh_plan(plan, 199, restricted=True))
    assert "(200)" not in withheld.message


def test_the_cost_is_the_sum_of_all_steps_and_rows_the_most_of_one() -> None:
    explained = build_explained(step("FILTER", step("CROSS_PRODUCT", TEN, TWENTY)))
    assert (explained.cost, explained.rows) == (430.0, 200.0)
