"""Tables and columns that are not in the index, in every place where one may stand."""

from __future__ import annotations

from tests.attacks.refusals.refusal import Refusal, refused

REFUSALS: tuple[Refusal, ...] = (
    *refused(
        "unknown_table",
        {
            "shadow": "SELECT * FROM pg_shadow",
            "authid": "SELECT * FROM pg_catalog.pg_authid",
            "settings": "SELECT * FROM pg_settings",
            "another_schema": "SELECT 1 FROM public.orders",
            "another_database": "SELECT 1 FROM other.sales.orders",
            "in_subquery": "SELECT id FROM orders WHERE id IN (SELECT usesysid FROM pg_user)",
            "in_exists": "SELECT 1 WHERE EXISTS (SELECT 1 FROM pg_class)",
            "in_union": "SELECT status FROM orders UNION SELECT usename FROM pg_user",
            "in_case": "SELECT CASE WHEN (SELECT 1 FROM secrets) = 1 THEN 1 END",
            "in_array": "SELECT ARRAY(SELECT id FROM secrets)",
            "in_values": "SELECT x FROM (VALUES ((SELECT max(id) FROM secrets))) AS v(x)",
            "in_unnest": "SELECT u FROM unnest(ARRAY(SELECT usename FROM pg_user)) AS u",
            "qualified_past_a_cte": (
                "WITH secrets AS (SELECT 1 AS id) SELECT id FROM hidden.secrets"
            ),
            "beside_a_cte": "WITH orders AS (SELECT 1 AS id) SELECT 1 FROM orders, secrets",
            "master_in_double_quotes": 'SELECT sql FROM "sqlite_master"',
            "master_in_single_quotes": "SELECT sql FROM 'sqlite_master'",
            "schema": "SELECT sql FROM sqlite_schema",
            "temp_schema": "SELECT sql FROM sqlite_temp_schema",
            "sequence": "SELECT * FROM sqlite_sequence",
            "statistics": "SELECT * FROM sqlite_stat1",
            "pages": "SELECT * FROM dbstat",
            "pragma_function_without_arguments": "SELECT * FROM pragma_table_list",
            "pragma_in_double_quotes": 'SELECT * FROM "pragma_database_list"',
            "temp": "SELECT * FROM temp.orders",
            "another_database_without_a_schema": "SELECT * FROM other.orders",
            "three_parts": "SELECT * FROM x.main.orders",
            "catalog_in_subquery": (
                "SELECT id FROM orders WHERE status IN (SELECT sql FROM sqlite_master)"
            ),
            "catalog_in_union": "SELECT status FROM orders UNION SELECT sql FROM sqlite_master",
            "in_scalar_subquery": "SELECT (SELECT sql FROM sqlite_master)",
            "secret_in_exists": "SELECT 1 WHERE EXISTS (SELECT 1 FROM secrets)",
            "url": "SELECT * FROM 'https://example.com/x.csv'",
            "secret_by_a_schema": "SELECT * FROM staff.secrets",
        },
    ),
    *refused(
        "unknown_table",
        {
            "information_schema": "SELECT table_name FROM information_schema.tables",
            "in_order": "SELECT id FROM orders ORDER BY (SELECT 1 FROM secrets)",
            "outside_the_scope_of_the_cte": (
                "SELECT (WITH secrets AS (SELECT 1 AS x) SELECT x FROM secrets), x FROM secrets"
            ),
            "not_in_the_index": "SELECT * FROM secrets",
            "not_in_the_index_in_capitals": "SELECT * FROM SECRETS",
            "not_in_the_index_by_main": "SELECT * FROM main.secrets",
            "in_limit": "SELECT id FROM orders LIMIT (SELECT max(id) FROM secrets)",
            "in_join": "SELECT o.id FROM orders AS o JOIN secrets AS s ON s.id = o.id",
            "qualified_by_main_past_a_cte": (
                "WITH secrets AS (SELECT 1 AS x) SELECT x FROM main.secrets"
            ),
            "in_double_quotes": 'SELECT * FROM "Secrets"',
            "by_schema_in_capitals": 'SELECT * FROM MAIN."SECRETS"',
            "table_statement_in_a_subquery": "SELECT * FROM (TABLE secrets)",
            "asof_join": "SELECT s.x FROM orders AS o ASOF JOIN secrets AS s ON o.id >= s.id",
            "from_first": "FROM secrets",
            "from_first_in_a_subquery": "SELECT (FROM secrets SELECT x)",
            "from_first_in_exists": "SELECT 1 WHERE EXISTS (FROM secrets)",
            "secret_in_subquery": "SELECT id FROM orders WHERE status IN (SELECT x FROM secrets)",
            "in_union_by_name": "SELECT id FROM orders UNION ALL BY NAME SELECT id FROM secrets",
            "in_lateral": "SELECT l.x FROM orders AS o, LATERAL (SELECT x FROM secrets) AS l",
            "in_filter": "SELECT count(*) FILTER ((SELECT max(id) FROM secrets) = 1) FROM orders",
            "in_semi_join": "SELECT o.id FROM orders AS o SEMI JOIN secrets AS s ON s.id = o.id",
            "files_by_pattern": "SELECT * FROM 'FOLDER/*.csv'",
            "file_in_a_join": "SELECT o.id FROM orders o JOIN 'FOLDER/notes.csv' n ON n.a = o.id",
            "pg_catalog_without_schema": "SELECT tablename FROM pg_tables",
            "system_view": "SELECT * FROM duckdb_tables",
            "system_schema": "SELECT * FROM system.information_schema.columns",
            "secret_in_three_parts": "SELECT * FROM shop.main.secrets",
        },
        works=True,
    ),
    *refused(
        "unknown_table", {"quoted_capitals": ('SELECT 1 FROM "ORDERS"')}, sqlite=None, duckdb=None
    ),
    *refused(
        "unknown_table",
        {
            "before_the_cte_that_shadows_it": (
                "WITH a AS (SELECT x FROM secrets), secrets AS (SELECT 1 AS x) SELECT x FROM a"
            )
        },
        sqlite="unexplained_table",
        works=True,
    ),
    *refused(
        "unknown_table",
        {"not_in_the_index_in_brackets": ("SELECT * FROM [Secrets]")},
        postgres="unparsable",
        duckdb="unparsable",
    ),
    *refused(
        "unknown_table",
        {
            "in_a_list": "SELECT [(SELECT x FROM secrets)]",
            "in_the_cte_of_its_name": (
                "WITH secrets AS (SELECT x FROM secrets) SELECT x FROM secrets"
            ),
        },
        sqlite="unknown_column",
        works=True,
    ),
    *refused(
        "unknown_table",
        {
            "in_a_star": "SELECT * REPLACE ((SELECT max(x) FROM secrets) AS status) FROM orders",
            "in_a_tables_star": (
                "SELECT o.* REPLACE ((SELECT max(x) FROM secrets) AS status) FROM orders AS o"
            ),
            "in_qualify": (
                "SELECT id FROM orders QUALIFY row_number() OVER () = (SELECT max(id) FROM secrets)"
            ),
            "with_a_prefix_alias": "SELECT orders.x FROM orders: secrets",
        },
        postgres="node_not_allowed",
        sqlite="node_not_allowed",
        works=True,
    ),
    *refused(
        "unknown_table",
        {"positional_join": ("SELECT s.x FROM orders AS o POSITIONAL JOIN secrets AS s")},
        postgres="unparsable",
        sqlite="unparsable",
        works=True,
    ),
    *refused(
        "unexplained_table",
        {
            "before_the_cte_that_shadows_it": (
                "WITH a AS (SELECT id FROM orders), orders AS (SELECT 1 AS id) SELECT id FROM a"
            )
        },
        postgres=None,
        duckdb=None,
    ),
    *refused(
        "unknown_column",
        {
            "ctid": "SELECT ctid FROM orders",
            "xmin": "SELECT xmin FROM orders",
            "tableoid": "SELECT o.tableoid FROM orders AS o",
            "system_column_in_lateral": (
                "SELECT x.c FROM orders AS o CROSS JOIN LATERAL (SELECT ctid AS c FROM customers "
                "AS c WHERE c.id = o.customer_id) AS x"
            ),
            "of_a_table_that_is_not_joined": "SELECT pg_shadow.usename FROM orders",
            "unicode_identifier": r'SELECT U&"\0073ecret" FROM orders',
            "of_a_hidden_table_that_is_not_joined": "SELECT secrets.x FROM orders",
            "rowid_in_double_quotes": 'SELECT "rowid" FROM orders',
            "oid_in_double_quotes_and_capitals": 'SELECT "OID" FROM orders WHERE "Oid" > 1',
            "rowid_of_an_outer_query": 'SELECT (SELECT "_rowid_" FROM (SELECT 1)) FROM orders',
            "another_name_of_rowid": "SELECT _rowid_ FROM orders",
            "in_a_table": "SELECT id FROM orders WHERE id IN secrets",
            "in_a_table_of_main": "SELECT id FROM orders WHERE id IN main.secrets",
            "bare": "SELECT password FROM customers",
            "qualified": "SELECT c.password FROM customers AS c",
        },
    ),
    *refused(
        "unknown_column",
        {
            "not_in_the_index": "SELECT salary FROM employees",
            "not_in_the_index_qualified": "SELECT e.salary FROM employees AS e",
            "unselected_column_of_lateral_under_a_star": (
                "SELECT * FROM orders AS o JOIN LATERAL (SELECT salary FROM employees AS e WHERE "
                "e.id = o.seller_id) AS x ON TRUE"
            ),
            "through_a_star_unqualified": "SELECT salary FROM (SELECT * FROM employees) AS e",
            "through_a_star_qualified": "SELECT e.salary FROM (SELECT * FROM employees) AS e",
            "through_the_star_of_a_cte": (
                "WITH e AS (SELECT * FROM employees) SELECT e.salary FROM e"
            ),
            "in_where": "SELECT name FROM employees WHERE salary > 1",
            "in_order": "SELECT name FROM employees ORDER BY salary",
            "in_group": "SELECT count(*) FROM employees GROUP BY salary",
            "in_filter": "SELECT count(*) FILTER (WHERE salary > 1) FROM employees",
            "in_window": "SELECT rank() OVER (ORDER BY salary) FROM employees",
            "in_named_window": "SELECT rank() OVER w FROM employees WINDOW w AS (ORDER BY salary)",
            "in_using": "SELECT a.id FROM employees AS a JOIN employees AS b USING (salary)",
            "in_distinct_on": "SELECT DISTINCT ON (salary) name FROM employees",
            "in_exists": (
                "SELECT id FROM orders AS o WHERE EXISTS (SELECT 1 FROM employees AS e WHERE "
                "e.id = o.seller_id AND salary > 1)"
            ),
            "bare_in_brackets": "SELECT [salary] FROM employees",
            "qualified_in_double_quotes": 'SELECT e."salary" FROM employees AS e',
        },
        duckdb="unknown_table",
    ),
    *refused(
        "unknown_column",
        {
            "in_the_cte_of_its_name": (
                "WITH Orders AS (SELECT id FROM orders) SELECT id FROM orders"
            ),
            "name_of_a_table": "SELECT orders FROM orders",
        },
        postgres=None,
        duckdb=None,
    ),
    *refused(
        "unknown_column",
        {"bare_in_backticks": ("SELECT `salary` FROM employees")},
        postgres="unparsable",
        duckdb="unparsable",
    ),
    *refused(
        "unknown_column",
        {
            "niladic_function_in_capitals": "SELECT CURRENT_SCHEMA",
            "session_user": "SELECT session_user",
            "catalog": "SELECT current_catalog",
        },
        postgres="function_not_allowed",
        works=True,
    ),
    *refused(
        "unknown_column",
        {
            "excluded": "SELECT * EXCLUDE (password) FROM customers",
            "excluded_from_another_table": "SELECT c.* EXCLUDE (status) FROM customers c, orders o",
            "replaced": "SELECT * REPLACE (1 AS password) FROM customers",
            "in_a_star": "SELECT * REPLACE (password AS name) FROM customers",
            "excluded_below": (
                "SELECT country FROM (SELECT * EXCLUDE (country) FROM customers) AS c"
            ),
        },
        postgres="node_not_allowed",
        sqlite="node_not_allowed",
    ),
    *refused(
        "unknown_column",
        {"the_user_before_a_dot": ("SELECT ('' || current_user || current_schema).trim()")},
        postgres="unparsable",
        sqlite="unexplained_column",
        works=True,
    ),
    *refused(
        "unknown_column",
        {"the_catalog_before_a_dot": ("SELECT [current_catalog].list_max()")},
        postgres="unparsable",
        sqlite="node_not_allowed",
        works=True,
    ),
)
