"""Names of columns and outputs: where one means a column, an output, a function or a string.

More of them stand in ``fixtures/verdicts_names.txt`` and ``fixtures/spellings.txt``.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp

from execution.guard.guard import guard_query
from execution.guard_dialects import parse_statements
from execution.name_resolution.scopes import NameResolver
from execution.name_resolution.walk import resolve_names
from execution.policies.access import open_access
from nl2sql.sql.nodes import find_all
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.execution.judging import judge
from tests.fakes import SHOP, build_table
from tests.golden import load_cases, load_changes


def list_used(sql: str, dialect: str = "postgres") -> list[str]:
    """The columns of tables that a query uses; a policy's wrappers have no others."""
    (tree,) = parse_statements(sql, dialect)
    resolver = NameResolver(replace(SHOP, dialect=dialect))
    found = resolve_names(tree, list(find_all(tree, exp.Expr)), resolver)
    return sorted({name for _, _, source in found.tables for name in source.used})


def nest_stars(outputs: str, levels: int) -> str:
    """Queries around a table of four columns, each of which gives ``outputs`` of the one inside."""
    sql = "SELECT * FROM customers"
    for level in range(levels):
        sql = f"SELECT {outputs} FROM ({sql}) AS q{level}"
    return sql


def join_stars(joins: int) -> str:
    """CTEs, each of which gives the one before it twice."""
    ctes = [f"c{at + 1} AS (SELECT * FROM c{at} AS a, c{at} AS b)" for at in range(joins)]
    return f"WITH {', '.join(['c0 AS (SELECT * FROM customers)', *ctes])} SELECT 1 FROM c{joins}"


def join_wide(joins: int) -> str:
    """A query over a CTE of 600 columns, joined with itself."""
    wide = ", ".join(f"{at} AS k{at}" for at in range(600))
    others = "".join(f" CROSS JOIN w AS b{at}" for at in range(joins))
    return f"WITH w AS (SELECT {wide}) SELECT count(*) FROM w AS a{others}"


WIDTHS = {
    "stars": (nest_stars("*, *", 8), nest_stars("*, *", 9)),
    "many_stars": (nest_stars("*, *, *, *", 4), nest_stars("*, *, *, *", 13)),
    "many_levels": (nest_stars("*", 20), nest_stars("*, *", 20)),
    "stars_of_a_source": (nest_stars("*", 1), "SELECT " + "c.*, " * 501 + "1 FROM customers AS c"),
    "joins": (join_stars(8), join_stars(20)),
    "joins_without_a_star": (join_wide(15), join_wide(16)),
}


@pytest.mark.parametrize(("passes", "refused"), WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_columns_of_a_query_are_bounded(dialect: str, passes: str, refused: str) -> None:
    assert judge(passes, dialect) == ""
    assert judge(refused, dialect) == "too_many_columns"


def test_columns_of_a_union_by_name_are_bounded() -> None:
    tables = tuple(
        build_table(f"sales.t{at}", *(f"c{at}_{number} integer" for number in range(800)))
        for at in range(3)
    )
    access = open_access(replace(SHOP, dialect="duckdb", tables=tables))
    sql = "SELECT * FROM t0 UNION BY NAME SELECT * FROM t1 UNION BY NAME SELECT * FROM "
    assert isinstance(guard_query(f"{sql}t1", access), GuardedQuery)
    assert expect(Violation, guard_query(f"{sql}t2", access)).code == "too_many_columns"


@pytest.mark.parametrize(
    ("sql", "columns"),
    load_changes("names", "columns that are read"),
)
def test_the_columns_that_a_query_reads_are_listed(sql: str, columns: str) -> None:
    assert (", ".join(list_used(sql)) or "none") == columns


@pytest.mark.parametrize(
    ("dialect", "names"),
    [
        ("postgres", "ctid xmin xmax cmin cmax tableoid"),
        ("sqlite", 'rowid oid _rowid_ "oid"'),
        ("duckdb", "rowid"),
    ],
)
def test_a_system_column_is_refused_and_a_column_may_be_called_so(dialect: str, names: str) -> None:
    codes = {"a system column": "unknown_column", "a column called like a system column": ""}
    cases = [case for case in load_cases("names") if case[0] in codes]
    assert len(cases) > 5
    for name in names.split():
        for heading, sql in cases:
            assert judge(sql.replace("{}", name), dialect) == codes[heading], sql


@pytest.mark.parametrize("name", ["json", "root", "JSON"])
def test_a_hidden_column_of_a_function_is_no_string(name: str) -> None:
    for sql, code in (
        (f"SELECT \"{name}\" FROM json_each('[1]')", "unknown_column"),
        (f"SELECT (SELECT \"{name}\" FROM orders) FROM json_tree('[1]') AS j", "unknown_column"),
        (f'SELECT "{name}" FROM orders', ""),
        (f"SELECT d.\"{name}\" FROM (SELECT value AS {name} FROM json_each('[1]')) AS d", ""),
        ("SELECT \"nothing\" FROM json_each('[1]')", ""),
    ):
        assert judge(sql, "sqlite") == code, sql


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_what_is_named_through_a_joins_name_is_a_column_of_a_table(dialect: str) -> None:
    for name in ("x.total", "total"):
        sql = f"SELECT {name} FROM (orders AS o CROSS JOIN customers AS c) AS x"
        assert list_used(sql, dialect) == ["total"]


# What the columns of a function in FROM are called; ``j`` is the function's own name.
PARTS = "key value type atom id parent fullkey path"
OUTPUTS = {
    "postgres": {
        "json_array_elements": "value",
        "json_array_elements_text": "value",
        "json_each": "key value",
        "json_each_text": "key value",
        "jsonb_array_elements": "value",
        "jsonb_array_elements_text": "value",
        "jsonb_each": "key value",
        "jsonb_each_text": "key value",
        "jsonb_object_keys": "j",
        "generate_series": "j",
    },
    "sqlite": {"json_each": PARTS, "json_tree": PARTS},
    "duckdb": {"json_each": PARTS, "json_tree": PARTS, "range": "j", "generate_series": "j"},
}


@pytest.mark.parametrize("dialect", OUTPUTS)
def test_only_a_functions_own_columns_pass(dialect: str) -> None:
    names = (*PARTS.split(), "j", "json", "root", "rowid")
    for function, outputs in OUTPUTS[dialect].items():
        arguments = "1, 3" if function in ("range", "generate_series") else "'[]'"
        # Capitals change nothing.
        for call in (f"{function}({arguments})", f"{function.upper()}({arguments})"):
            passing = {
                name for name in names if not judge(f"SELECT j.{name} FROM {call} AS j", dialect)
            }
            assert passing == set(outputs.split()), call
