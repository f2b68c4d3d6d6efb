"""The second reading of names, by itself: what calls by attribute notation is refused."""

from __future__ import annotations

import postgast
import psycopg
import pytest

from execution.postgres.embedded import SUPERUSER, EmbeddedServer
from execution.postgres.names import check_names
from execution.postgres.trees import name_output
from nl2sql.catalog import Catalog
from tests.attacks.attack import Attack
from tests.attacks.postgres_calls import ATTACKS
from tests.fakes import SHOP, build_table

CURRENCIES = Catalog("shop", (build_table("main.currencies", "code text"),))


def read(sql: str, catalog: Catalog = SHOP) -> str:
    """The name that is not found; empty when all are."""
    statement = postgast.parse(sql).stmts[0].stmt.select_stmt
    violation = check_names(statement, catalog, lambda _: False)
    assert violation is None or violation.code == "unexplained_column"
    return violation.fragment if violation else ""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_a_call_by_attribute_notation_is_refused_by_this_reader_alone(attack: Attack) -> None:
    assert read(attack.sql.replace("currencies", "main.currencies"), CURRENCIES)


EXPLAINED = {
    "table": "SELECT o.id FROM sales.orders AS o",
    "star": "SELECT d.id FROM (SELECT * FROM sales.orders AS o) AS d",
    "star_of_one": "SELECT d.total FROM (SELECT o.* FROM sales.orders AS o, sales.customers) AS d",
    "renamed_first": "SELECT o.a, o.customer_id FROM sales.orders AS o(a)",
    "values": "SELECT v.column1, v.column2 FROM (VALUES (1, 2)) AS v",
    "function": "SELECT g.n FROM generate_series(1, 2) AS g(n)",
    "cte": "WITH c AS (SELECT 1 AS n) SELECT x.n FROM c AS x",
    "cte_in_cte": "WITH c AS (WITH d AS (SELECT 1 AS n) SELECT d.n FROM d) SELECT c.n FROM c",
    "recursion": "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT c.n + 1 FROM c) "
    "SELECT c.n FROM c",
    "recursion_with_names": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT c.n + 1 FROM c) "
    "SELECT c.n FROM c",
    "lateral": "SELECT d.x FROM sales.orders AS o, LATERAL (SELECT o.id AS x) AS d",
    "outer": "SELECT (SELECT o.id) FROM sales.orders AS o",
    "outer_beside_a_sibling": "SELECT (SELECT d.x FROM (SELECT o.id AS x) AS d, (SELECT 1) AS o) "
    "FROM sales.orders AS o",
    "join_on": "SELECT 1 FROM sales.orders AS o JOIN sales.customers AS c ON c.id = o.customer_id",
    "join_using": "SELECT j.id, j.country FROM (sales.orders JOIN sales.customers USING (id)) AS j",
    "merged_first": "SELECT j.a FROM ((SELECT 1 AS x, 2 AS y) AS l JOIN (SELECT 3 AS z, 2 AS y) "
    "AS r USING (y)) AS j(a)",
    "using_alias": "SELECT u.id FROM sales.orders JOIN sales.customers USING (id) AS u",
    "order_by": "SELECT o.id FROM sales.orders AS o ORDER BY o.placed_at",
    "window": "SELECT sum(o.total) OVER w FROM sales.orders AS o WINDOW w AS (ORDER BY o.id)",
    "names_of_expressions": 'SELECT d.count, d."case", d.array, d.exists, d.numeric FROM '
    "(SELECT count(*), CASE WHEN true THEN 1 END, ARRAY[1], EXISTS (SELECT 1), 1::numeric) AS d",
}


@pytest.mark.parametrize("sql", EXPLAINED.values(), ids=EXPLAINED)
def test_a_column_is_found_where_postgresql_finds_it(sql: str) -> None:
    assert read(sql) == ""


UNEXPLAINED = {
    "unknown_column": ("SELECT o.f FROM sales.orders AS o", "o.f"),
    "unknown_table": ("SELECT t.f FROM sales.nothing AS t", "t.f"),
    "system_column": ("SELECT o.ctid FROM sales.orders AS o", "o.ctid"),
    "replaced_by_an_alias": ("SELECT o.id FROM sales.orders AS o(a)", "o.id"),
    "hidden_by_an_inner_source": (
        "SELECT (SELECT o.id FROM (SELECT 1 AS x) AS o) FROM sales.orders AS o",
        "o.id",
    ),
    "sibling_that_is_not_lateral": ("SELECT 1 FROM (SELECT 1 AS f) AS q, (SELECT q.f) AS d", "q.f"),
    "outer_one_behind_a_sibling": (
        "SELECT (SELECT 1 FROM (SELECT 1 AS f) AS q, (SELECT q.f) AS d) FROM (SELECT 1) AS q(a)",
        "q.f",
    ),
    "condition_of_a_join_beside": (
        "SELECT (SELECT 1 FROM (SELECT 1 AS f) AS q, (SELECT 1) AS a JOIN (SELECT 2) AS b "
        "ON q.f = 1) FROM (SELECT 1) AS q(a)",
        "q.f",
    ),
    "hidden_in_a_named_join": (
        "SELECT o.id FROM (sales.orders AS o CROSS JOIN sales.customers AS c) AS j",
        "o.id",
    ),
    "function_without_names": ("SELECT g.g FROM generate_series(1, 2) AS g", "g.g"),
    "cte_of_another_level": ("SELECT c.n FROM (WITH c AS (SELECT 1 AS n) SELECT 1) AS x, c", "c.n"),
    "not_in_the_using": (
        "SELECT u.total FROM sales.orders JOIN sales.customers USING (id) AS u",
        "u.total",
    ),
    # PostgreSQL refuses two of one name, so neither is sure to be meant.
    "first_of_two_of_one_name": (
        "SELECT o.a FROM (SELECT 1 AS a) AS o, (SELECT 1 AS b) AS o",
        "o.a",
    ),
    "second_of_two_of_one_name": (
        "SELECT o.b FROM (SELECT 1 AS a) AS o, (SELECT 1 AS b) AS o",
        "o.b",
    ),
    "three_names": ("SELECT sales.orders.id FROM sales.orders", "sales.orders.id"),
    "star_of_nothing": ("SELECT x.* FROM sales.orders AS o", "x.*"),
    "unnamed_output": ("SELECT d.f FROM (SELECT 1 + 1) AS d", "d.f"),
    "name_of_an_else": (
        'SELECT d."case" FROM (SELECT CASE WHEN true THEN 1 ELSE o.id END FROM sales.orders o) d',
        "d.case",
    ),
}


@pytest.mark.parametrize(("sql", "name"), UNEXPLAINED.values(), ids=UNEXPLAINED)
def test_what_postgresql_would_not_find_is_refused(sql: str, name: str) -> None:
    assert read(sql) == name


EXPRESSIONS = (
    "1",
    "'a'",
    "NULL",
    "true",
    "1::int",
    "id::text",
    "(id::numeric(10,2))::text",
    "count(*) OVER ()",
    "pg_catalog.abs(1)",
    "coalesce(id, 1)",
    "nullif(id, 1)",
    "greatest(1, 2)",
    "least(1, 2)",
    "CASE WHEN true THEN id END",
    "CASE WHEN true THEN 1 ELSE id END",
    "CASE WHEN true THEN 1 ELSE 2::int END",
    "CASE WHEN true THEN 1 ELSE abs(id) END",
    "ARRAY[1, 2]",
    "(ARRAY[id])[1]",
    "tags[1]",
    "tags[1:2]",
    "ARRAY(SELECT 1)",
    "EXISTS (SELECT 1)",
    "(SELECT 1)",
    "(SELECT 1 AS one)",
    "(SELECT id)",
    "(SELECT 1)::text",
    "(VALUES (1))",
    "(SELECT 5 UNION SELECT 5)",
    "(SELECT id UNION SELECT 1)",
    "ROW(1, 2)",
    'name COLLATE "C"',
    "id + 1",
    "-id",
    "id IN (1, 2)",
    "id BETWEEN 1 AND 2",
    "id IS NULL",
    "name LIKE 'a'",
    "NOT true",
    "current_date",
    "current_timestamp",
    "localtime",
    "extract(year FROM current_date)",
    "substring(name FROM 1 FOR 2)",
    "trim(name)",
    "position('a' IN name)",
    "current_date AT TIME ZONE 'UTC'",
    "interval '1 day'",
    "date '2020-01-01'",
    "x.name",
    "x",
    "(x).name",
    "count(*) FILTER (WHERE true) OVER ()",
)


def test_an_output_is_called_what_the_server_calls_it(embedded_server: EmbeddedServer) -> None:
    source = "(SELECT 1 AS id, 'a'::text AS name, ARRAY[1, 2] AS tags) AS x"
    with psycopg.connect(embedded_server.url("postgres", SUPERUSER)) as connection:
        for expression in EXPRESSIONS:
            sql = f"SELECT {expression} FROM {source}"
            described = connection.execute(sql).description
            assert described is not None
            target = postgast.parse(sql).stmts[0].stmt.select_stmt.target_list[0]
            assert name_output(target.res_target.val) == described[0].name, expression
