"""Queries with a part that no query may have: changes, locks, parameters, forms of one engine."""

from __future__ import annotations

from tests.attacks.refusals.refusal import Refusal, refused

REFUSALS: tuple[Refusal, ...] = (
    *refused(
        "node_not_allowed",
        {
            "star_of_a_renamed_table_as_a_row": "SELECT row_to_json(t.*) FROM orders AS t(a)",
            "merge_in_cte": (
                "WITH x AS (MERGE INTO orders USING customers ON TRUE WHEN MATCHED THEN DELETE "
                "RETURNING 1) SELECT 1 FROM x"
            ),
            "select_into": "SELECT id INTO copy FROM orders",
            "select_into_temp": "SELECT id INTO TEMP copy FROM orders",
            "for_update": "SELECT id FROM orders FOR UPDATE",
            "for_share": "SELECT id FROM orders FOR SHARE",
            "for_no_key_update": "SELECT id FROM orders FOR NO KEY UPDATE SKIP LOCKED",
            "for_update_in_subquery": "SELECT id FROM (SELECT id FROM orders FOR UPDATE) AS o",
            "dblink": "SELECT a FROM dblink('host=evil', 'SELECT 1') AS t(a int)",
            "tablesample": "SELECT id FROM orders TABLESAMPLE (1)",
            "time_travel": "SELECT id FROM orders AT (VERSION => 1)",
        },
    ),
    *refused(
        "node_not_allowed",
        {
            "row_of_a_renamed_table": "SELECT row_to_json(t) FROM orders AS t(a)",
            "numbered_parameter": "SELECT $1",
            "dollar_parameter": "SELECT $name",
        },
        sqlite="unknown_column",
    ),
    *refused(
        "node_not_allowed",
        {"rows_from": ("SELECT * FROM ROWS FROM (unnest(ARRAY[1]), pg_ls_dir('/')) AS t")},
        sqlite="unparsable",
        duckdb="unparsable",
    ),
    *refused(
        "node_not_allowed",
        {"named_parameter": ("SELECT :name")},
        duckdb="unparsable",
    ),
    *refused(
        "node_not_allowed",
        {"at_parameter": "SELECT @name"},
        postgres="unknown_column",
        duckdb="unparsable",
    ),
    *refused(
        "node_not_allowed", {"qualify": ("SELECT id FROM orders QUALIFY id = 1")}, duckdb=None
    ),
    *refused(
        "node_not_allowed",
        {
            "delete_in_cte": "WITH x AS (DELETE FROM returns RETURNING order_id) SELECT * FROM x",
            "insert_in_cte": (
                "WITH x AS (INSERT INTO returns VALUES (2, 1) RETURNING order_id) SELECT * FROM x"
            ),
            "update_in_cte": (
                "WITH x AS (UPDATE staff.employees SET salary = 0 RETURNING id) SELECT id FROM x"
            ),
            "pivot_in_from": "SELECT * FROM orders PIVOT (count(*) FOR status IN ('open', 'paid'))",
            "unpivot_in_from": "SELECT * FROM returns UNPIVOT (v FOR n IN (order_id, line_no))",
            "star_that_excludes_by_table": "SELECT * EXCLUDE (orders.status) FROM orders",
            "star_that_replaces_two": "SELECT * REPLACE (1 AS id) FROM orders, customers",
            "columns_that_exclude": "SELECT COLUMNS(* EXCLUDE (status)) FROM orders",
            "star_that_renames": "SELECT * RENAME (id AS x) FROM orders",
            "all_columns": "SELECT COLUMNS(*) FROM orders",
            "columns_in_a_condition": (
                "SELECT id FROM returns JOIN orders ON true WHERE COLUMNS(*) = 1"
            ),
            "sample": "SELECT id FROM orders USING SAMPLE 1",
            "subquery_of_show": "SELECT * FROM (DESCRIBE secrets)",
        },
        works=True,
    ),
    *refused(
        "node_not_allowed",
        {
            "index_hint": "SELECT id FROM orders INDEXED BY i",
        },
        postgres="unparsable",
        duckdb="unparsable",
    ),
    *refused(
        "node_not_allowed",
        {
            "lateral": "SELECT id FROM orders, LATERAL (SELECT 1)",
            "distinct_on": "SELECT DISTINCT ON (id) id FROM orders",
            "two_strings": "SELECT 'a' 'b'",
            "alias_that_names_columns": "SELECT max(x) FROM (VALUES (1), (2)) AS v (x)",
        },
        postgres=None,
        duckdb=None,
    ),
    *refused(
        "node_not_allowed",
        {"function_of_a_schema": ("SELECT main.load_extension('x')")},
        postgres="function_not_allowed",
        duckdb="function_not_allowed",
    ),
    *refused(
        "node_not_allowed",
        {"in_a_name_that_a_column_bears_too": ('SELECT id FROM "group", orders WHERE id IN total')},
        postgres="unknown_table",
        duckdb=None,
    ),
    *refused(
        "node_not_allowed",
        {"list_comprehension": ("SELECT [x + 1 FOR x IN [1]]")},
        sqlite="unparsable",
        works=True,
    ),
    *refused(
        "node_not_allowed",
        {"columns_by_pattern": ("SELECT COLUMNS('s.*') FROM orders")},
        postgres="function_not_allowed",
        sqlite="function_not_allowed",
        works=True,
    ),
    *refused(
        "node_not_allowed",
        {"question_mark_parameter": "SELECT ?"},
        postgres="unparsable",
    ),
    *refused(
        "node_not_allowed",
        # To PostgreSQL the number of points of a path.
        {"column_by_number": "SELECT #1 FROM orders"},
        postgres=None,
        sqlite="unparsable",
        works=True,
    ),
    *refused(
        "node_not_allowed",
        {"lambda": "SELECT list_transform([1], lambda x: x + 1)"},
        postgres="unparsable",
        sqlite="unparsable",
        works=True,
    ),
    *refused(
        "node_not_allowed",
        {"subquery_of_summarize": ("SELECT * FROM (SUMMARIZE secrets)")},
        postgres="unknown_table",
        sqlite="unknown_table",
        works=True,
    ),
    *refused(
        "operator_not_allowed",
        {"operator_of_another_schema": "SELECT 1 OPERATOR(evil.+) 2"},
        postgres="unparsable",
        sqlite="unparsable",
        duckdb="function_not_allowed",
    ),
    *refused(
        "type_not_allowed",
        {
            "regclass": "SELECT 'orders'::regclass",
            "regrole": "SELECT 'postgres'::regrole",
            "oid": "SELECT 1::oid",
            "xml": "SELECT '<a/>'::xml",
            "row_type": "SELECT '(1)'::sales.orders",
            "type_of_another_schema": "SELECT '1'::public.text",
        },
    ),
    *refused(
        "type_not_allowed",
        {
            "regclass_by_cast": "SELECT CAST('sales.orders' AS regclass)",
            "regproc": "SELECT CAST(1 AS regproc)",
        },
        sqlite=None,
    ),
    *refused(
        "type_not_allowed",
        {
            "type_of_the_database": "SELECT 'gold'::tier",
            "enum": "SELECT 'a'::ENUM('a', 'b')",
            "variant": "SELECT 1::VARIANT",
        },
        works=True,
    ),
    *refused(
        "type_not_allowed",
        {"regclass_by_prefix": ("SELECT regclass 'orders'")},
        sqlite="unknown_column",
        duckdb="unparsable",
    ),
    *refused(
        "type_not_allowed",
        {"colons": "SELECT total::text FROM orders", "typed_literal": "SELECT date '2020-01-01'"},
        postgres=None,
        duckdb=None,
    ),
)
