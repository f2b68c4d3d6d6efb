"""Names of odd constructs: what the resolver explains, as it writes it, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.guard.guard import guard_query
from execution.name_resolution import columns
from execution.policies.access import open_access
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.fakes import SHOP, build_table

CUSTOMERS = '"sales"."customers" AS customers'
ORDERS = '"sales"."orders" AS orders'

EXPLAINED = {
    "join_under_a_name": (
        "SELECT x.id, x.total FROM (orders o JOIN customers c USING (id)) AS x",
        'SELECT x.id, x.total FROM ("sales"."orders" AS o JOIN "sales"."customers" AS c '
        "USING (id)) AS x",
    ),
    "join_under_new_names": (
        "SELECT x.a FROM (orders JOIN customers USING (id)) AS x(a)",
        f"SELECT x.a FROM ({ORDERS} JOIN {CUSTOMERS} USING (id)) AS x(a)",
    ),
    "join_beside_a_join_in_parentheses": (
        "SELECT o.id, p.price FROM (orders o CROSS JOIN customers c) JOIN products p USING (id)",
        'SELECT o.id, p.price FROM ("sales"."orders" AS o CROSS JOIN "sales"."customers" AS c) '
        'JOIN "stock"."products" AS p USING (id)',
    ),
    "lateral_among_tables": (
        "SELECT x.a FROM orders o, LATERAL (SELECT o.id AS a) AS x",
        'SELECT x.a FROM "sales"."orders" AS o, LATERAL (SELECT o.id AS a) AS x',
    ),
    "values_as_a_value": ("SELECT (VALUES (1))", "SELECT (VALUES (1))"),
    "values_in_a_list": ("SELECT 1 WHERE 1 IN (VALUES (1))", "SELECT 1 WHERE 1 IN (VALUES (1))"),
    "names_of_values": (
        "SELECT column1, v.column2 FROM (VALUES (1, 2)) AS v",
        "SELECT column1, v.column2 FROM (VALUES (1, 2)) AS v",
    ),
    "ordinality": (
        "SELECT u.u, u.ordinality FROM unnest(ARRAY[1]) WITH ORDINALITY AS u",
        "SELECT u.u, u.ordinality FROM UNNEST(ARRAY[1]) WITH ORDINALITY AS u(u, ordinality)",
    ),
    "ordinality_under_a_new_name": (
        "SELECT u.x, n FROM unnest(ARRAY[1]) WITH ORDINALITY AS u(x, n)",
        "SELECT u.x, n FROM UNNEST(ARRAY[1]) WITH ORDINALITY AS u(x, n)",
    ),
    "cte_under_a_new_name": (
        "WITH c AS (SELECT 1 AS x) SELECT q.y FROM c AS q(y)",
        "WITH _cte1 AS (SELECT 1 AS x) SELECT q.y FROM _cte1 AS q(y)",
    ),
    "cte_with_new_names_alone": (
        "WITH c AS (SELECT 1 AS x) SELECT y FROM c AS (y)",
        "WITH _cte1 AS (SELECT 1 AS x) SELECT y FROM _cte1 AS c(y)",
    ),
    "cte_with_a_name_of_its_column": (
        "WITH c(y) AS (SELECT 1 AS x) SELECT c.y FROM c",
        "WITH _cte1(y) AS (SELECT 1 AS x) SELECT c.y FROM _cte1 AS c",
    ),
    "schema_before_a_column": (
        "SELECT sales.orders.id FROM orders",
        f"SELECT orders.id FROM {ORDERS}",
    ),
    "schema_before_a_column_of_an_outer_query": (
        "SELECT (SELECT sales.orders.id) FROM orders",
        f"SELECT (SELECT orders.id) FROM {ORDERS}",
    ),
    "order_by_an_output_of_a_union": (
        "SELECT id AS n FROM orders UNION SELECT id FROM customers ORDER BY n LIMIT 2 OFFSET 1",
        f"SELECT id AS n FROM {ORDERS} UNION SELECT id FROM {CUSTOMERS} ORDER BY n LIMIT 2 "
        "OFFSET 1",
    ),
    "order_by_an_output": (
        "SELECT id AS n FROM orders GROUP BY n ORDER BY n",
        f"SELECT id AS n FROM {ORDERS} GROUP BY n ORDER BY n",
    ),
    "order_in_parentheses": (
        "(SELECT id AS n FROM orders) ORDER BY n LIMIT 2 OFFSET 1",
        f"(SELECT id AS n FROM {ORDERS}) ORDER BY n LIMIT 2 OFFSET 1",
    ),
    "capitals": ("SELECT ID FROM Sales.ORDERS", 'SELECT ID FROM "sales"."orders" AS ORDERS'),
    "query_in_the_limit_of_a_union": (
        "SELECT id FROM orders UNION SELECT id FROM customers LIMIT (SELECT 1 FROM customers)",
        f"SELECT id FROM {ORDERS} UNION SELECT id FROM {CUSTOMERS} LIMIT (SELECT 1 FROM "
        f"{CUSTOMERS})",
    ),
    "name_of_an_ordered_aggregate": (
        "SELECT d.mode FROM (SELECT mode() WITHIN GROUP (ORDER BY id) FROM orders) AS d",
        f"SELECT d.mode FROM (SELECT MODE() WITHIN GROUP (ORDER BY id) FROM {ORDERS}) AS d",
    ),
    "queries_in_limit_and_offset": (
        "SELECT id FROM orders LIMIT (SELECT 1 FROM customers) OFFSET (SELECT 2 FROM customers)",
        f"SELECT id FROM {ORDERS} LIMIT (SELECT 1 FROM {CUSTOMERS}) "
        f"OFFSET (SELECT 2 FROM {CUSTOMERS})",
    ),
    "query_in_values": (
        "SELECT (VALUES ((SELECT max(id) FROM orders)))",
        f"SELECT (VALUES ((SELECT MAX(id) FROM {ORDERS})))",
    ),
    "cte_that_reads_an_outer_one_of_its_name": (
        "WITH a AS (SELECT 1 AS x) SELECT d.x FROM (WITH a AS (SELECT x FROM a) SELECT x FROM a) "
        "AS d",
        "WITH _cte1 AS (SELECT 1 AS x) SELECT d.x FROM (WITH _cte2 AS (SELECT x FROM _cte1 AS a) "
        "SELECT x FROM _cte2 AS a) AS d",
    ),
    "query_in_the_limit_of_values": (
        "SELECT v.column1 FROM ((VALUES (1)) LIMIT (SELECT max(id) FROM orders)) AS v",
        f"SELECT v.column1 FROM (VALUES (1) LIMIT (SELECT MAX(id) FROM {ORDERS})) AS v",
    ),
    "natural_join_under_new_names": (
        # The shared column comes first, and so it is the one that is renamed.
        "SELECT x.id FROM (orders NATURAL JOIN (SELECT 'x' AS status) AS y) AS x(a)",
        f"SELECT x.id FROM ({ORDERS} NATURAL JOIN (SELECT 'x' AS status) AS y) AS x(a)",
    ),
    "lateral_function_of_a_query": (
        "SELECT x.x FROM orders, LATERAL lower((SELECT orders.status)) AS x",
        f"SELECT x.x FROM {ORDERS}, LATERAL LOWER((SELECT orders.status)) AS x(x)",
    ),
    "name_that_is_not_in_small_letters": (
        'SELECT "Loyalty Tier" FROM customers',
        f'SELECT "Loyalty Tier" FROM {CUSTOMERS}',
    ),
    "row": ("SELECT row_to_json(orders) FROM orders", f"SELECT ROW_TO_JSON(orders) FROM {ORDERS}"),
    "subquery_without_outputs": (
        "SELECT count(*) FROM orders WHERE EXISTS (SELECT FROM customers)",
        f"SELECT COUNT(*) FROM {ORDERS} WHERE EXISTS(SELECT FROM {CUSTOMERS})",
    ),
    "window_of_its_own": (
        "SELECT sum(total) OVER w FROM orders WINDOW w AS (ORDER BY id)",
        f"SELECT SUM(total) OVER w FROM {ORDERS} WINDOW w AS (ORDER BY id)",
    ),
    "names_without_as": (
        "SELECT d.lower, d.count, d.id FROM (SELECT lower('A'), count(*), (SELECT id FROM orders "
        "LIMIT 1)) AS d",
        "SELECT d.lower, d.count, d.id FROM (SELECT LOWER('A'), COUNT(*), (SELECT id FROM "
        f"{ORDERS} LIMIT 1)) AS d",
    ),
    "name_of_a_call_in_parentheses": (
        "SELECT d.sum FROM (SELECT (sum(total)) FROM orders) AS d",
        f"SELECT d.sum FROM (SELECT (SUM(total)) FROM {ORDERS}) AS d",
    ),
    "names_of_casts_and_windows": (
        "SELECT d.id, d.sum FROM (SELECT id::text, sum(total) FILTER (WHERE id > 1) OVER () "
        "FROM orders) AS d",
        "SELECT d.id, d.sum FROM (SELECT CAST(id AS TEXT), SUM(total) FILTER(WHERE id > 1) "
        f"OVER () FROM {ORDERS}) AS d",
    ),
}


@pytest.mark.parametrize(("sql", "expected"), EXPLAINED.values(), ids=EXPLAINED)
def test_what_is_explained(sql: str, expected: str) -> None:
    assert expect(GuardedQuery, guard_query(sql, open_access(SHOP))).sql == expected


REFUSED = {
    "not_permitted": {
        "old_name_behind_a_new_one": "SELECT o.id FROM orders AS o(a)",
        "using_a_column_of_one_side": "SELECT 1 FROM orders JOIN customers USING (total)",
        "using_a_column_of_a_table_beside_a_query": "SELECT 1 FROM (SELECT 1 AS x) AS d "
        "JOIN orders USING (total)",
    },
    "unknown_column": {
        "old_name_of_a_cte": "WITH c AS (SELECT 1 AS x) SELECT q.x FROM c AS q(y)",
        "old_name_of_a_ctes_column": "WITH c(y) AS (SELECT 1 AS x) SELECT c.x FROM c",
        "old_name_of_a_join": "SELECT x.id FROM (orders JOIN customers USING (id)) AS x(a)",
        "name_inside_a_named_join": "SELECT o.id FROM (orders o CROSS JOIN customers c) AS x",
        "more_names_than_columns": "SELECT 1 FROM orders AS o(a, b, c, d, e, f, g)",
        "more_names_than_a_ctes_columns": "WITH c(a, b) AS (SELECT 1) SELECT 1 FROM c",
        "star_of_nothing": "SELECT nothing.* FROM orders",
        "other_schema": "SELECT stock.orders.id FROM orders",
        "other_database": "SELECT x.sales.orders.id FROM orders",
        "schema_of_a_cte": "WITH orders AS (SELECT 1 AS id) SELECT sales.orders.id FROM orders",
        "sibling": "SELECT 1 FROM orders AS o, (SELECT o.id) AS x",
        "order_by_what_a_union_lacks": "SELECT id FROM orders UNION SELECT id FROM customers "
        "ORDER BY name",
        "output_in_where": "SELECT id AS n FROM orders WHERE n > 1",
        "output_in_having": "SELECT sum(id) AS n FROM orders HAVING n > 1",
        "output_of_an_outer_query_in_order_by": "SELECT id AS n FROM orders "
        "WHERE EXISTS (SELECT 1 FROM customers ORDER BY n)",
        "column_of_a_row": "SELECT o.nothing FROM orders AS o",
        "output_without_a_name": "SELECT d.f FROM (SELECT 1 + 1) AS d",
        "second_output_of_a_subquery": "SELECT d.b FROM (SELECT (SELECT 1 AS a)) AS d",
        "column_that_a_natural_join_shares_by_its_old_name": "SELECT x.status FROM "
        "(orders NATURAL JOIN (SELECT 'x' AS status) AS y) AS x(a)",
        "small_letters_for_a_name_in_large_ones": 'SELECT "loyalty tier" FROM customers',
        "column_in_limit": "SELECT id FROM orders LIMIT (SELECT nothing)",
    },
    "node_not_allowed": {
        "ordinality_of_a_table": "SELECT 1 FROM orders WITH ORDINALITY",
        "star_with_exceptions": "SELECT o.* EXCEPT (id) FROM orders AS o",
        "star_without_a_name_with_exceptions": "SELECT * EXCEPT (id) FROM orders",
        "star_in_an_expression": "SELECT 1 + * FROM orders",
        "asof_join": "SELECT 1 FROM orders ASOF JOIN customers USING (id)",
        "cross_apply": "SELECT 1 FROM orders CROSS APPLY (SELECT 1)",
        "lateral_view": "SELECT 1 FROM orders, LATERAL VIEW explode(id) t",
        "row_of_a_renamed_table": "SELECT o FROM orders AS o(a)",
        "star_of_a_renamed_table_as_a_value": "SELECT count(o.*) FROM orders AS o(a)",
        "lateral_table": "SELECT 1 FROM orders, LATERAL customers",
        "lateral_table_in_parentheses": "SELECT 1 FROM orders, LATERAL (customers)",
        "lateral_join": "SELECT 1 FROM orders, LATERAL (customers CROSS JOIN products)",
        "join_in_two_parentheses": "SELECT 1 FROM ((orders CROSS JOIN customers))",
        "set_operation_of_a_side": "SELECT id FROM orders LEFT UNION SELECT id FROM customers",
        "set_operation_of_a_kind": "SELECT id FROM orders INNER UNION SELECT id FROM customers",
    },
    "unexplained_table": {
        "two_of_one_name": "SELECT 1 FROM orders, customers AS orders",
        "cte_before_it_is_written": "WITH RECURSIVE a AS (SELECT x FROM b), b AS (SELECT 1 AS x) "
        "SELECT x FROM a",
    },
    "unexplained_column": {
        "two_columns_of_one_name": "SELECT 1 FROM unnest(ARRAY[1], ARRAY[2]) AS u"
    },
    "unknown_table": {
        "other_database": "SELECT 1 FROM x.sales.orders",
        "other_schema": "SELECT 1 FROM stock.orders",
        "new_name_of_a_cte": "WITH RECURSIVE a AS (SELECT 1 AS x), b AS (SELECT 2 AS x), "
        "c AS (SELECT x FROM _cte2) SELECT x FROM c",
        "cte_under_a_schema": "WITH c AS (SELECT 1) SELECT 1 FROM sales.c",
        "cte_of_an_inner_query": "SELECT (WITH c AS (SELECT 1) SELECT 1 FROM c) FROM c",
    },
}


@pytest.mark.parametrize(
    ("code", "sql"),
    [
        pytest.param(code, sql, id=f"{code}-{title}")
        for code, queries in REFUSED.items()
        for title, sql in queries.items()
    ],
)
def test_what_is_refused(code: str, sql: str) -> None:
    assert expect(Violation, guard_query(sql, open_access(SHOP))).code == code


# Dialect and code (empty for what passes) → queries.
OTHERS = {
    ("sqlite", ""): {
        "outputs_everywhere": "SELECT id AS n FROM orders WHERE n > 1",
        "values_count_from_one": "SELECT column1 FROM (VALUES (1))",
        "string_in_double_quotes": 'SELECT "nothing" FROM orders',
        "text_of_no_output": 'SELECT "1+2" FROM (SELECT 1 + 1)',
        "cte_over_its_namesake_in_a_schema": "WITH orders AS (SELECT id FROM sales.orders) SELECT "
        "id FROM orders",
    },
    ("duckdb", ""): {
        "outputs_everywhere_on_duckdb": "SELECT id AS n FROM orders WHERE n > 1",
        "rows_as_values": "SELECT orders FROM orders",
        "union_by_name": (
            "SELECT d.id, d.name FROM (SELECT id FROM orders UNION BY NAME SELECT name FROM "
            "customers) AS d"
        ),
        "name_of_a_range": "SELECT d.range FROM (SELECT range(3)) AS d",
        "name_of_a_series": "SELECT d.generate_series FROM (SELECT generate_series(1, 3)) AS d",
        "field_of_a_column": "SELECT orders.id.f FROM orders",
        "shared_columns_count_once": "SELECT x.i FROM (orders JOIN customers USING (id)) AS x(a, "
        "b, c, d, e, f, g, h, i)",
        "output_before_it": "SELECT id AS n, n + 1 AS m FROM orders",
        "values_count_from_zero": "SELECT col0 FROM (VALUES (1)) AS v",
        "semi_join": "SELECT o.id FROM orders o SEMI JOIN customers c ON c.id = o.id",
        "anti_join": "SELECT o.id FROM orders o ANTI JOIN customers c ON c.id = o.id",
        "star_of_a_natural_join": "SELECT d.name, d.total FROM (SELECT * FROM orders NATURAL JOIN "
        "customers) AS d",
    },
    ("sqlite", "unknown_column"): {
        "number_of_a_row": 'SELECT "rowid" FROM orders',
        "number_of_a_row_by_another_name": 'SELECT "oid" FROM orders',
        "number_of_a_row_by_a_third": 'SELECT "_ROWID_" FROM orders',
        "no_rows_as_values": "SELECT orders FROM orders",
        "text_of_an_output": 'SELECT "1+1" FROM (SELECT 1 + 1)',
        "texts_that_a_natural_join_shares": "WITH w(a, b) AS (SELECT * FROM (SELECT 1) NATURAL "
        "JOIN (SELECT 1)) SELECT a FROM w",
        "name_in_backticks": "SELECT `nothing` FROM orders",
    },
    ("sqlite", "node_not_allowed"): {
        "set_operation_of_a_side": "SELECT id FROM orders LEFT UNION SELECT id FROM customers"
    },
    ("duckdb", "unknown_column"): {
        "union_by_name_has_no_third": "SELECT d.total FROM (SELECT id FROM orders UNION BY NAME "
        "SELECT name FROM customers) AS d",
        "range_is_no_series": "SELECT d.generate_series FROM (SELECT range(3)) AS d",
        "field_of_nothing": "SELECT orders.nothing.f FROM orders",
        "shared_columns_do_not_count_twice": "SELECT x.i FROM (orders JOIN customers USING (id)) "
        "AS x(a, b, c, d, e, f, g, h, i, j)",
        "not_from_one": "SELECT column1 FROM (VALUES (1)) AS v",
        "star_of_a_semi_join": "SELECT d.name FROM (SELECT * FROM orders o SEMI JOIN customers c "
        "ON c.id = o.id) AS d",
    },
    ("duckdb", "node_not_allowed"): {
        "star_that_is_counted_with_exceptions": "SELECT count(* EXCLUDE (id)) FROM orders",
        "tables_star_that_is_counted_with_exceptions": "SELECT count(o.* EXCLUDE (id)) FROM orders "
        "AS o",
        "star_that_leaves_out_a_star": "SELECT * EXCLUDE (*) FROM orders",
        "star_that_replaces_without_a_name": "SELECT * REPLACE (id) FROM orders",
    },
    ("sqlite", "unexplained_table"): {
        "cte_that_is_written_later": "WITH a AS (SELECT id FROM orders), orders AS (SELECT 1 AS "
        "id) SELECT id FROM a"
    },
    ("duckdb", "too_much_text"): {
        "long_output_by_its_name": "SELECT repeat('x', 9000) AS a, replace(a, 'x', a) AS b"
    },
    ("sqlite", "too_much_text"): {
        "long_output_by_its_name_in_order_by": "SELECT printf('%.9000c', 'x') AS a FROM orders "
        "ORDER BY replace(a, 'x', a)"
    },
}


@pytest.mark.parametrize(
    ("dialect", "code", "sql"),
    [
        pytest.param(*key, sql, id=title)
        for key, queries in OTHERS.items()
        for title, sql in queries.items()
    ],
)
def test_what_differs_by_dialect(dialect: str, code: str, sql: str) -> None:
    verdict = guard_query(sql, open_access(replace(SHOP, dialect=dialect)))
    found = verdict.code if isinstance(verdict, Violation) else ""
    assert found == code, verdict


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
    verdict = expect(Violation, guard_query(sql, open_access(replace(SHOP, dialect="duckdb"))))
    assert verdict.code == "unknown_column"


@pytest.mark.parametrize("sql", COLUMNS_ON_DUCKDB.values(), ids=COLUMNS_ON_DUCKDB)
def test_a_functions_name_is_a_column_where_duckdb_finds_one(sql: str) -> None:
    expect(GuardedQuery, guard_query(sql, open_access(replace(SHOP, dialect="duckdb"))))


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
    assert expect(Violation, guard_query(refused, access)).code == "too_many_columns"


def test_columns_of_a_union_by_name_are_bounded() -> None:
    tables = tuple(
        build_table(f"sales.t{at}", *(f"c{at}_{number} integer" for number in range(800)))
        for at in range(3)
    )
    access = open_access(replace(SHOP, dialect="duckdb", tables=tables))
    sql = "SELECT * FROM t0 UNION BY NAME SELECT * FROM t1 UNION BY NAME SELECT * FROM "
    assert isinstance(guard_query(f"{sql}t1", access), GuardedQuery)
    assert expect(Violation, guard_query(f"{sql}t2", access)).code == "too_many_columns"


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
    verdict = expect(GuardedQuery, guard_query(sql.replace("{}", "LIMIT 1"), open_access(SHOP)))
    assert "name" in verdict.columns


@pytest.mark.parametrize("sql", NAMES_OF_OUTPUTS.values(), ids=NAMES_OF_OUTPUTS)
def test_alone_in_an_item_a_name_is_an_outputs_on_postgresql(sql: str) -> None:
    verdict = expect(GuardedQuery, guard_query(sql.replace("{}", "LIMIT 1"), open_access(SHOP)))
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


def nest_outputs(condition: str, levels: int, alias: str = "") -> str:
    """Queries as outputs of queries, around a long condition."""
    sql = f"SELECT 1 WHERE {' AND '.join([condition] * 150)}"
    for _ in range(levels):
        sql = f"SELECT ({sql}){alias}"
    return f"{sql} FROM customers"


def test_outputs_are_written_only_where_their_text_may_be_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[str] = []

    def write(text: str) -> str:
        written.append(text)
        return text

    monkeypatch.setattr(columns, "build_text_name", write)
    access = open_access(replace(SHOP, dialect="sqlite"))
    assert isinstance(guard_query(nest_outputs("id = 1", 30), access), GuardedQuery)
    assert not written
    assert isinstance(guard_query(nest_outputs('"id" = 1', 3), access), GuardedQuery)
    # Once each, from the outside in.
    assert [text.count("SELECT") for text in written] == [3, 2, 1, 0]
    assert isinstance(guard_query(nest_outputs('"id" = 1', 30, " AS n"), access), GuardedQuery)
    verdict = expect(Violation, guard_query(nest_outputs('"id" = 1', 30), access))
    assert verdict.message == "Queries within queries are too long: give their outputs names."


@pytest.mark.parametrize(("most", "passes"), [(7, True), (6, False)])
def test_how_much_is_written_is_counted(
    monkeypatch: pytest.MonkeyPatch, most: int, passes: bool
) -> None:
    monkeypatch.setattr(columns, "_MOST_WRITTEN", most)
    # Four numbers and three signs between them.
    sql = 'SELECT 1 + 2 + 3 + 4 FROM orders WHERE "id" = 1'
    verdict = guard_query(sql, open_access(replace(SHOP, dialect="sqlite")))
    assert isinstance(verdict, GuardedQuery) == passes, verdict


@pytest.mark.parametrize("name", ["json", "root", "JSON"])
def test_a_hidden_column_of_a_function_is_no_string(name: str) -> None:
    access = open_access(replace(SHOP, dialect="sqlite"))
    for sql in (
        f"SELECT \"{name}\" FROM json_each('[1]')",
        f"SELECT (SELECT \"{name}\" FROM orders) FROM json_tree('[1]') AS j",
    ):
        assert expect(Violation, guard_query(sql, access)).code == "unknown_column"
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
        assert expect(Violation, guard_query(sql, access)).code == "unknown_column"
    for sql in (f'SELECT {other}, f."{word}" FROM flags AS f', f"SELECT {word} FROM orders"):
        assert isinstance(guard_query(sql, access), GuardedQuery)
    postgres = open_access(replace(SHOP, tables=(*SHOP.tables, table)))
    assert isinstance(guard_query(f"SELECT {word} FROM flags", postgres), GuardedQuery)


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb"])
def test_what_is_named_through_a_joins_name_is_a_column_of_a_table(dialect: str) -> None:
    access = open_access(replace(SHOP, dialect=dialect))
    for name in ("x.total", "total"):
        sql = f"SELECT {name} FROM (orders AS o CROSS JOIN customers AS c) AS x"
        assert expect(GuardedQuery, guard_query(sql, access)).columns == ("total",)


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
    assert expect(Violation, guard_query(sql, open_access(SHOP))).fragment == fragment
