"""Queries with a part that no query may have: changes, locks, parameters, forms of one engine."""

from __future__ import annotations

from tests.attacks.refusals.refusal import Families, refused

FAMILIES: Families = {
    "node_not_allowed": (
        refused(
            "row_of_a_renamed_table",
            "SELECT row_to_json(t) FROM orders AS t(a)",
            sqlite="unknown_column",
        ),
        refused("star_of_a_renamed_table_as_a_row", "SELECT row_to_json(t.*) FROM orders AS t(a)"),
        refused(
            "rows_from",
            "SELECT * FROM ROWS FROM (unnest(ARRAY[1]), pg_ls_dir('/')) AS t",
            sqlite="unparsable",
        ),
        refused(
            "merge_in_cte",
            (
                "WITH x AS (MERGE INTO orders USING customers ON TRUE WHEN MATCHED THEN DELETE "
                "RETURNING 1) SELECT 1 FROM x"
            ),
        ),
        refused("select_into", "SELECT id INTO copy FROM orders"),
        refused("select_into_temp", "SELECT id INTO TEMP copy FROM orders"),
        refused("for_update", "SELECT id FROM orders FOR UPDATE"),
        refused("for_share", "SELECT id FROM orders FOR SHARE"),
        refused("for_no_key_update", "SELECT id FROM orders FOR NO KEY UPDATE SKIP LOCKED"),
        refused("for_update_in_subquery", "SELECT id FROM (SELECT id FROM orders FOR UPDATE) AS o"),
        refused("dblink", "SELECT a FROM dblink('host=evil', 'SELECT 1') AS t(a int)"),
        refused("numbered_parameter", "SELECT $1", sqlite="unknown_column"),
        refused("named_parameter", "SELECT :name", duckdb="unparsable"),
        refused("question_mark_parameter", "SELECT ?"),
        refused(
            "index_hint",
            "SELECT id FROM orders INDEXED BY i",
            postgres="unparsable",
            duckdb="unparsable",
        ),
        refused(
            "match_calls_an_application",
            "SELECT id FROM orders WHERE status MATCH 'x'",
            postgres="unparsable",
            duckdb="unparsable",
        ),
        refused(
            "regexp_calls_an_application",
            "SELECT id FROM orders WHERE status REGEXP 'x'",
            postgres=None,
            duckdb=None,
        ),
        refused("at_parameter", "SELECT @name", postgres="unknown_column"),
        refused("blob", "SELECT X'00'", duckdb="unparsable"),
        refused(
            "function_of_a_schema",
            "SELECT main.load_extension('x')",
            postgres="function_not_allowed",
            duckdb="function_not_allowed",
        ),
        refused("lateral", "SELECT id FROM orders, LATERAL (SELECT 1)", postgres=None, duckdb=None),
        refused("tablesample", "SELECT id FROM orders TABLESAMPLE (1)"),
        refused(
            "distinct_on", "SELECT DISTINCT ON (id) id FROM orders", postgres=None, duckdb=None
        ),
        refused("qualify", "SELECT id FROM orders QUALIFY id = 1", duckdb=None),
        refused(
            "ilike", "SELECT id FROM orders WHERE status ILIKE 'x'", postgres=None, duckdb=None
        ),
        refused("two_strings", "SELECT 'a' 'b'", postgres=None, duckdb=None),
        refused(
            "alias_that_names_columns",
            "SELECT max(x) FROM (VALUES (1), (2)) AS v (x)",
            postgres=None,
            duckdb=None,
        ),
        refused(
            "in_a_name_that_a_column_bears_too",
            'SELECT id FROM "group", orders WHERE id IN total',
            postgres="unknown_table",
            duckdb=None,
        ),
        refused("dollar_parameter", "SELECT $name", sqlite="unknown_column"),
        refused(
            "delete_in_cte",
            "WITH x AS (DELETE FROM returns RETURNING order_id) SELECT * FROM x",
            works=True,
        ),
        refused(
            "insert_in_cte",
            ("WITH x AS (INSERT INTO returns VALUES (2, 1) RETURNING order_id) SELECT * FROM x"),
            works=True,
        ),
        refused(
            "update_in_cte",
            ("WITH x AS (UPDATE staff.employees SET salary = 0 RETURNING id) SELECT id FROM x"),
            works=True,
        ),
        refused(
            "pivot_in_from",
            "SELECT * FROM orders PIVOT (count(*) FOR status IN ('open', 'paid'))",
            works=True,
        ),
        refused(
            "unpivot_in_from",
            "SELECT * FROM returns UNPIVOT (v FOR n IN (order_id, line_no))",
            works=True,
        ),
        refused(
            "star_that_excludes_by_table",
            "SELECT * EXCLUDE (orders.status) FROM orders",
            works=True,
        ),
        refused(
            "star_that_replaces_two",
            "SELECT * REPLACE (1 AS id) FROM orders, customers",
            works=True,
        ),
        refused(
            "columns_that_exclude", "SELECT COLUMNS(* EXCLUDE (status)) FROM orders", works=True
        ),
        refused("star_that_renames", "SELECT * RENAME (id AS x) FROM orders", works=True),
        refused(
            "columns_by_pattern",
            "SELECT COLUMNS('s.*') FROM orders",
            postgres="function_not_allowed",
            sqlite="function_not_allowed",
            works=True,
        ),
        refused("all_columns", "SELECT COLUMNS(*) FROM orders", works=True),
        refused(
            "columns_in_a_condition",
            "SELECT id FROM returns JOIN orders ON true WHERE COLUMNS(*) = 1",
            works=True,
        ),
        refused(
            "column_by_number",
            "SELECT #1 FROM orders",
            postgres="unparsable",
            sqlite="unparsable",
            works=True,
        ),
        refused("sample", "SELECT id FROM orders USING SAMPLE 1", works=True),
        refused(
            "lambda",
            "SELECT list_transform([1], lambda x: x + 1)",
            postgres="unparsable",
            sqlite="unparsable",
            works=True,
        ),
        refused(
            "list_comprehension", "SELECT [x + 1 FOR x IN [1]]", sqlite="unparsable", works=True
        ),
        refused("subquery_of_show", "SELECT * FROM (DESCRIBE secrets)", works=True),
        refused(
            "subquery_of_summarize",
            "SELECT * FROM (SUMMARIZE secrets)",
            postgres="unknown_table",
            sqlite="unknown_table",
            works=True,
        ),
        refused("time_travel", "SELECT id FROM orders AT (VERSION => 1)"),
    ),
    "operator_not_allowed": (
        refused(
            "operator_of_another_schema",
            "SELECT 1 OPERATOR(evil.+) 2",
            sqlite="node_not_allowed",
            duckdb="function_not_allowed",
        ),
        refused(
            "operator_of_the_catalog",
            "SELECT 1 OPERATOR(pg_catalog.+) 2",
            sqlite="node_not_allowed",
            duckdb="function_not_allowed",
        ),
    ),
    "type_not_allowed": (
        refused("regclass", "SELECT 'orders'::regclass"),
        refused("regclass_by_cast", "SELECT CAST('sales.orders' AS regclass)", sqlite=None),
        refused(
            "regclass_by_prefix",
            "SELECT regclass 'orders'",
            sqlite="unknown_column",
            duckdb="unparsable",
        ),
        refused("regproc", "SELECT CAST(1 AS regproc)", sqlite=None),
        refused("regrole", "SELECT 'postgres'::regrole"),
        refused("oid", "SELECT 1::oid"),
        refused("xml", "SELECT '<a/>'::xml"),
        refused("row_type", "SELECT '(1)'::sales.orders"),
        refused("type_of_another_schema", "SELECT '1'::public.text"),
        refused("colons", "SELECT total::text FROM orders", postgres=None, duckdb=None),
        refused("typed_literal", "SELECT date '2020-01-01'", postgres=None, duckdb=None),
        refused("type_of_the_database", "SELECT 'gold'::tier", works=True),
        refused("enum", "SELECT 'a'::ENUM('a', 'b')", works=True),
        refused("variant", "SELECT 1::VARIANT", works=True),
    ),
}
