"""Names of odd constructs: what the resolver explains, as it writes it, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.fakes import SHOP

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
        "WITH c AS (SELECT 1 AS x) SELECT y FROM c AS c (y)",
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
        "text_of_an_output": 'SELECT "sum(1)", "count_star()" FROM (SELECT count(*), sum(1))',
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
        "text_of_an_output_in_its_query": 'SELECT 1 + 1 FROM orders ORDER BY "1 + 1"',
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
