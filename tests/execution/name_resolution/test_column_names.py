"""Names of columns and outputs: where one means a column, an output, a function or a string."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import GuardedQuery, Violation
from tests.fakes import SHOP, build_table

# DuckDB takes these for its functions, which are on no allowlist, and not for the columns.
FUNCTIONS_ON_DUCKDB = {
    "output_of_an_outer_query": "SELECT 'x' AS current_catalog, (SELECT current_catalog)",
    "output_in_quotes": 'SELECT \'x\' AS "user", (SELECT "user")',
    "column_of_an_outer_query": "SELECT (SELECT current_role) FROM (SELECT 'x' AS current_role) d",
    "column_beside": "SELECT u.x FROM (SELECT 'x' AS current_role) d, unnest([current_role]) u(x)",
    "column_beside_a_function": "SELECT 1 FROM (SELECT 1 AS session_user) d, range(session_user) r",
    "column_before_lateral": "SELECT 1 FROM (SELECT 'x' AS \"user\") AS d, "
    'LATERAL (SELECT "user" AS x) AS e',
    "field_of_a_column": "SELECT (SELECT user.f) FROM (SELECT {'f': 1} AS user) AS d",
    "output_in_having": "SELECT max(status) AS current_schema FROM orders "
    "HAVING current_schema = 'main'",
    "output_in_qualify": "SELECT status AS current_schema FROM orders "
    "QUALIFY row_number() OVER () = 1 AND current_schema = 'main'",
    "output_in_limit": "SELECT 'x' AS current_user FROM orders LIMIT length(current_user)",
    "output_in_the_limit_of_a_union": "SELECT 'x' AS current_user UNION SELECT 'y' "
    "LIMIT length(current_user)",
    "row_of_an_outer_query": "SELECT (SELECT user) FROM orders AS user",
}
COLUMNS_ON_DUCKDB = {
    "column": "SELECT current_role FROM (SELECT 'x' AS current_role) AS d",
    "qualified": "SELECT (SELECT d.user) FROM (SELECT 'x' AS user) AS d",
    "output": "SELECT status AS user, upper(user) AS u, count(*) AS n FROM orders "
    "WHERE user <> 'x' GROUP BY user, u ORDER BY user, upper(u)",
    "output_of_a_union": "SELECT 'x' AS user UNION SELECT 'y' ORDER BY user",
    "any_other_name": "SELECT 'x' AS users, (SELECT users)",
    "fields_table": "SELECT (SELECT user.id) FROM orders AS user",
}


@pytest.mark.parametrize("sql", FUNCTIONS_ON_DUCKDB.values(), ids=FUNCTIONS_ON_DUCKDB)
def test_a_name_that_duckdb_takes_for_a_function_is_refused(sql: str) -> None:
    verdict = guard_query(sql, open_access(replace(SHOP, dialect="duckdb")))
    assert isinstance(verdict, Violation), verdict
    assert verdict.code == "unknown_column"


@pytest.mark.parametrize("sql", COLUMNS_ON_DUCKDB.values(), ids=COLUMNS_ON_DUCKDB)
def test_a_functions_name_is_a_column_where_duckdb_finds_one(sql: str) -> None:
    verdict = guard_query(sql, open_access(replace(SHOP, dialect="duckdb")))
    assert isinstance(verdict, GuardedQuery), verdict


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


WIDE = ", ".join(f"{at} AS k{at}" for at in range(600))
WIDTHS = {
    "stars": (nest_stars("*, *", 8), nest_stars("*, *", 9)),
    "many_stars": (nest_stars("*, *, *, *", 4), nest_stars("*, *, *, *", 13)),
    "many_levels": (nest_stars("*", 20), nest_stars("*, *", 20)),
    "stars_of_a_source": (nest_stars("*", 1), "SELECT " + "c.*, " * 501 + "1 FROM customers AS c"),
    "joins": (join_stars(8), join_stars(20)),
    "joins_without_a_star": tuple(
        f"WITH w AS (SELECT {WIDE}) SELECT count(*) FROM w AS a"
        + "".join(f" CROSS JOIN w AS b{at}" for at in range(joins))
        for joins in (15, 16)
    ),
}


@pytest.mark.parametrize(("passes", "refused"), WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_columns_of_a_query_are_bounded(dialect: str, passes: str, refused: str) -> None:
    access = open_access(replace(SHOP, dialect=dialect))
    assert isinstance(guard_query(passes, access), GuardedQuery)
    verdict = guard_query(refused, access)
    assert isinstance(verdict, Violation), verdict
    assert verdict.code == "too_many_columns"


def test_columns_of_a_union_by_name_are_bounded() -> None:
    tables = tuple(
        build_table(f"sales.t{at}", *(f"c{at}_{number} integer" for number in range(800)))
        for at in range(3)
    )
    access = open_access(replace(SHOP, dialect="duckdb", tables=tables))
    sql = "SELECT * FROM t0 UNION BY NAME SELECT * FROM t1 UNION BY NAME SELECT * FROM "
    assert isinstance(guard_query(f"{sql}t1", access), GuardedQuery)
    verdict = guard_query(f"{sql}t2", access)
    assert isinstance(verdict, Violation), verdict
    assert verdict.code == "too_many_columns"


# PostgreSQL takes `name` for the customers' column, not for the output, but in the last ones.
OUTER = "SELECT (SELECT o.total AS name FROM orders AS o {}) FROM customers"
NAMES_OF_COLUMNS = {
    "in_an_expression": OUTER.format("ORDER BY length(name) + o.id LIMIT 1"),
    "in_parentheses": OUTER.format("ORDER BY (length(name) * o.id) LIMIT 1"),
    "in_a_row": OUTER.format("ORDER BY (name, o.id) LIMIT 1"),
    "in_a_cast": OUTER.format("ORDER BY name::text LIMIT 1"),
    "in_a_query": OUTER.format("ORDER BY (SELECT name) LIMIT 1"),
    "grouped_by_an_expression": OUTER.format("GROUP BY o.total, o.id, length(name) LIMIT 1"),
    "distinct_on_an_expression": OUTER.replace("o.total", "DISTINCT ON (length(name)) o.total"),
    "limit_of_a_union": OUTER.format("UNION ALL SELECT 1 LIMIT length(name)"),
    "offset_of_a_union": OUTER.format("UNION ALL SELECT 1 OFFSET length(name)"),
    "behind_parentheses": "SELECT (((SELECT o.total AS name FROM orders AS o)) "
    "ORDER BY length(name) LIMIT 1) FROM customers",
}
NAMES_OF_OUTPUTS = {
    "alone": OUTER.format("ORDER BY name LIMIT 1"),
    "downwards": OUTER.format("ORDER BY 1, name DESC NULLS LAST LIMIT 1"),
    "in_two_parentheses": OUTER.format("ORDER BY ((name)) LIMIT 1"),
    "of_a_union": OUTER.format("UNION ALL SELECT 1 ORDER BY name LIMIT 1"),
    "behind_parentheses": "SELECT ((SELECT o.total AS name FROM orders AS o) ORDER BY name LIMIT 1)"
    " FROM customers",
    "grouped_by": OUTER.format("GROUP BY name LIMIT 1"),
    "grouped_by_several": OUTER.format("GROUP BY o.id, (name, o.id), ROLLUP (name), CUBE ((name))"),
    "grouped_by_sets": OUTER.format("GROUP BY GROUPING SETS ((name), (o.id, name))"),
    "distinct_on": OUTER.replace("o.total", "DISTINCT ON (name, o.id) o.total"),
}


@pytest.mark.parametrize("sql", NAMES_OF_COLUMNS.values(), ids=NAMES_OF_COLUMNS)
def test_within_an_expression_a_name_is_no_outputs_on_postgresql(sql: str) -> None:
    verdict = guard_query(sql.replace("{}", "LIMIT 1"), open_access(SHOP))
    assert isinstance(verdict, GuardedQuery), verdict
    assert "name" in verdict.columns


@pytest.mark.parametrize("sql", NAMES_OF_OUTPUTS.values(), ids=NAMES_OF_OUTPUTS)
def test_alone_in_an_item_a_name_is_an_outputs_on_postgresql(sql: str) -> None:
    verdict = guard_query(sql.replace("{}", "LIMIT 1"), open_access(SHOP))
    assert isinstance(verdict, GuardedQuery), verdict
    assert "name" not in verdict.columns


def test_what_orders_a_select_in_parentheses_names_its_columns() -> None:
    sql = "SELECT ((SELECT o.total FROM orders AS o) ORDER BY status, o.id LIMIT 1) FROM customers"
    verdict = guard_query(sql, open_access(SHOP))
    assert isinstance(verdict, GuardedQuery), verdict
    assert verdict.columns == ("id", "status", "total")
    # Of a union only outputs can be named.
    verdict = guard_query(
        "(SELECT id FROM orders UNION SELECT 1) ORDER BY id + 1", open_access(SHOP)
    )
    assert isinstance(verdict, Violation), verdict
    assert verdict.code == "unknown_column"


# Names that a table has besides its columns: {} is one of them.
SYSTEM_COLUMNS = {
    "of_a_table_within": "SELECT (SELECT {} FROM orders LIMIT 1) FROM (SELECT 5 AS {}) AS a",
    "of_a_table_farther_in": "SELECT (SELECT (SELECT {}) FROM orders) FROM (SELECT 5 AS {}) AS a",
    "in_capitals": "SELECT (SELECT max({}) FROM orders) FROM (SELECT 5 AS {}) AS a".upper(),
    "by_an_output_of_an_outer_query": "SELECT id AS {} FROM orders "
    "WHERE id IN (SELECT 1 FROM (SELECT 2 AS x) AS d ORDER BY {})",
    "in_group_by": "SELECT status AS {}, count(*) FROM orders GROUP BY {}",
}
NO_SYSTEM_COLUMNS = {
    "output": "SELECT min(total) AS {}, max(total) AS n FROM orders ORDER BY {}, ({}) DESC",
    "of_a_query": "SELECT d.{}, {} FROM (SELECT status AS {} FROM orders) AS d WHERE {} = 'x'",
    "of_a_query_farther_out": "SELECT (SELECT {} FROM (SELECT 1 AS x) AS e) "
    "FROM (SELECT status AS {} FROM orders) AS d",
    "of_a_union": "SELECT id AS {} FROM orders UNION SELECT 1 ORDER BY {}",
}
SYSTEM_NAMES = [
    *(("postgres", name) for name in ("ctid", "xmin", "xmax", "cmin", "cmax", "tableoid")),
    *(("sqlite", name) for name in ("rowid", "oid", "_rowid_", '"oid"')),
    ("duckdb", "rowid"),
]


@pytest.mark.parametrize(("dialect", "name"), SYSTEM_NAMES)
@pytest.mark.parametrize("sql", SYSTEM_COLUMNS.values(), ids=SYSTEM_COLUMNS)
def test_a_system_column_is_refused(dialect: str, name: str, sql: str) -> None:
    verdict = guard_query(sql.replace("{}", name), open_access(replace(SHOP, dialect=dialect)))
    assert isinstance(verdict, Violation), verdict
    assert verdict.code == "unknown_column"


@pytest.mark.parametrize(("dialect", "name"), SYSTEM_NAMES)
@pytest.mark.parametrize("sql", NO_SYSTEM_COLUMNS.values(), ids=NO_SYSTEM_COLUMNS)
def test_a_column_may_be_called_like_a_system_column(dialect: str, name: str, sql: str) -> None:
    verdict = guard_query(sql.replace("{}", name), open_access(replace(SHOP, dialect=dialect)))
    assert isinstance(verdict, GuardedQuery), verdict


@pytest.mark.parametrize(
    ("dialect", "sql", "passes"),
    [
        ("sqlite", "SELECT o.id AS oid, count(*) FROM orders o, customers c GROUP BY oid", True),
        ("sqlite", "SELECT id AS oid FROM orders WHERE oid > 1", False),
        ("sqlite", "SELECT id AS oid FROM orders ORDER BY oid + 1", False),
        ("sqlite", "SELECT id AS oid, sum(id) OVER (ORDER BY oid) FROM orders", False),
        ("postgres", "SELECT status AS oid, count(*) FROM orders GROUP BY oid", True),
        ("postgres", "SELECT ctid FROM orders AS ctid", False),
        ("duckdb", "SELECT id AS oid FROM orders WHERE oid > 1", True),
        ("duckdb", "SELECT id AS rowid FROM orders WHERE rowid > 1", False),
    ],
)
def test_where_a_system_column_is_looked_for(dialect: str, sql: str, passes: bool) -> None:
    verdict = guard_query(sql, open_access(replace(SHOP, dialect=dialect)))
    assert isinstance(verdict, GuardedQuery) == passes, verdict


@pytest.mark.parametrize("name", ["json", "root", "JSON"])
def test_a_hidden_column_of_a_function_is_no_string(name: str) -> None:
    access = open_access(replace(SHOP, dialect="sqlite"))
    for sql in (
        f"SELECT \"{name}\" FROM json_each('[1]')",
        f"SELECT (SELECT \"{name}\" FROM orders) FROM json_tree('[1]') AS j",
    ):
        verdict = guard_query(sql, access)
        assert isinstance(verdict, Violation), verdict
        assert verdict.code == "unknown_column"
    for sql in (
        f'SELECT "{name}" FROM orders',
        f"SELECT d.\"{name}\" FROM (SELECT value AS {name} FROM json_each('[1]')) AS d",
        "SELECT \"nothing\" FROM json_each('[1]')",
    ):
        assert isinstance(guard_query(sql, access), GuardedQuery)


@pytest.mark.parametrize(("word", "other"), [("true", "false"), ("false", "true")])
def test_true_is_no_word_where_a_column_is_called_so(word: str, other: str) -> None:
    table = build_table("sales.flags", "id integer", f"{word} integer")
    access = open_access(replace(SHOP, dialect="sqlite", tables=(*SHOP.tables, table)))
    for sql in (
        f"SELECT {word} FROM flags",
        f"SELECT id FROM flags WHERE {word.upper()}",
        f"SELECT (SELECT {word}) FROM flags",
        f"SELECT {word} FROM (SELECT * FROM flags) AS d",
    ):
        verdict = guard_query(sql, access)
        assert isinstance(verdict, Violation), verdict
        assert verdict.code == "unknown_column"
    for sql in (f'SELECT {other}, f."{word}" FROM flags AS f', f"SELECT {word} FROM orders"):
        assert isinstance(guard_query(sql, access), GuardedQuery)
    postgres = open_access(replace(SHOP, tables=(*SHOP.tables, table)))
    assert isinstance(guard_query(f"SELECT {word} FROM flags", postgres), GuardedQuery)


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_what_is_named_through_a_joins_name_is_a_column_of_a_table(dialect: str) -> None:
    access = open_access(replace(SHOP, dialect=dialect))
    for name in ("x.total", "total"):
        sql = f"SELECT {name} FROM (orders AS o CROSS JOIN customers AS c) AS x"
        verdict = guard_query(sql, access)
        assert isinstance(verdict, GuardedQuery), verdict
        assert verdict.columns == ("total",)


@pytest.mark.parametrize(
    ("sql", "fragment"),
    [
        ("SELECT 1 + * FROM orders", "*"),
        ("SELECT length(*) FROM orders", "*"),
        ("SELECT o.nothing FROM orders AS o", "o.nothing"),
        ("SELECT count(o.*) FROM orders AS o(a)", "o.*"),
        ("SELECT 1 FROM orders JOIN customers USING (nothing)", "nothing"),
    ],
)
def test_a_refusal_tells_which_text_it_is_about(sql: str, fragment: str) -> None:
    verdict = guard_query(sql, open_access(SHOP))
    assert isinstance(verdict, Violation), verdict
    assert verdict.fragment == fragment
