"""Tables and columns that are not in the index, in every place where one may stand."""

from __future__ import annotations

from tests.attacks.refusals.refusal import Families, refused

FAMILIES: Families = {
    "unknown_table": (
        refused("shadow", "SELECT * FROM pg_shadow"),
        refused("authid", "SELECT * FROM pg_catalog.pg_authid"),
        refused(
            "information_schema", "SELECT table_name FROM information_schema.tables", works=True
        ),
        refused("settings", "SELECT * FROM pg_settings"),
        refused("another_schema", "SELECT 1 FROM public.orders"),
        refused("another_database", "SELECT 1 FROM other.sales.orders"),
        refused("quoted_capitals", 'SELECT 1 FROM "ORDERS"', sqlite=None, duckdb=None),
        refused("in_subquery", "SELECT id FROM orders WHERE id IN (SELECT usesysid FROM pg_user)"),
        refused("in_exists", "SELECT 1 WHERE EXISTS (SELECT 1 FROM pg_class)"),
        refused("in_union", "SELECT status FROM orders UNION SELECT usename FROM pg_user"),
        refused("in_order", "SELECT id FROM orders ORDER BY (SELECT 1 FROM secrets)", works=True),
        refused("in_case", "SELECT CASE WHEN (SELECT 1 FROM secrets) = 1 THEN 1 END"),
        refused("in_array", "SELECT ARRAY(SELECT id FROM secrets)"),
        refused("in_values", "SELECT x FROM (VALUES ((SELECT max(id) FROM secrets))) AS v(x)"),
        refused("in_unnest", "SELECT u FROM unnest(ARRAY(SELECT usename FROM pg_user)) AS u"),
        refused(
            "qualified_past_a_cte", "WITH secrets AS (SELECT 1 AS id) SELECT id FROM hidden.secrets"
        ),
        refused(
            "before_the_cte_that_shadows_it",
            "WITH a AS (SELECT x FROM secrets), secrets AS (SELECT 1 AS x) SELECT x FROM a",
            sqlite="unexplained_table",
            works=True,
        ),
        refused(
            "outside_the_scope_of_the_cte",
            "SELECT (WITH secrets AS (SELECT 1 AS x) SELECT x FROM secrets), x FROM secrets",
            works=True,
        ),
        refused("beside_a_cte", "WITH orders AS (SELECT 1 AS id) SELECT 1 FROM orders, secrets"),
        refused("master_in_double_quotes", 'SELECT sql FROM "sqlite_master"'),
        refused("master_in_single_quotes", "SELECT sql FROM 'sqlite_master'"),
        refused("schema", "SELECT sql FROM sqlite_schema"),
        refused("temp_schema", "SELECT sql FROM sqlite_temp_schema"),
        refused("sequence", "SELECT * FROM sqlite_sequence"),
        refused("statistics", "SELECT * FROM sqlite_stat1"),
        refused("pages", "SELECT * FROM dbstat"),
        refused("pragma_function_without_arguments", "SELECT * FROM pragma_table_list"),
        refused("pragma_in_double_quotes", 'SELECT * FROM "pragma_database_list"'),
        refused("not_in_the_index", "SELECT * FROM secrets", works=True),
        refused("not_in_the_index_in_capitals", "SELECT * FROM SECRETS", works=True),
        refused(
            "not_in_the_index_in_brackets",
            "SELECT * FROM [Secrets]",
            postgres="unparsable",
            duckdb="unparsable",
        ),
        refused("not_in_the_index_by_main", "SELECT * FROM main.secrets", works=True),
        refused("temp", "SELECT * FROM temp.orders"),
        refused("another_database_without_a_schema", "SELECT * FROM other.orders"),
        refused("three_parts", "SELECT * FROM x.main.orders"),
        refused(
            "catalog_in_subquery",
            "SELECT id FROM orders WHERE status IN (SELECT sql FROM sqlite_master)",
        ),
        refused(
            "catalog_in_union", "SELECT status FROM orders UNION SELECT sql FROM sqlite_master"
        ),
        refused("in_scalar_subquery", "SELECT (SELECT sql FROM sqlite_master)"),
        refused("secret_in_exists", "SELECT 1 WHERE EXISTS (SELECT 1 FROM secrets)"),
        refused(
            "in_limit", "SELECT id FROM orders LIMIT (SELECT max(id) FROM secrets)", works=True
        ),
        refused(
            "in_join", "SELECT o.id FROM orders AS o JOIN secrets AS s ON s.id = o.id", works=True
        ),
        refused(
            "qualified_by_main_past_a_cte",
            "WITH secrets AS (SELECT 1 AS x) SELECT x FROM main.secrets",
            works=True,
        ),
        refused("in_double_quotes", 'SELECT * FROM "Secrets"', works=True),
        refused("by_schema_in_capitals", 'SELECT * FROM MAIN."SECRETS"', works=True),
        refused("table_statement_in_a_subquery", "SELECT * FROM (TABLE secrets)", works=True),
        refused(
            "in_a_star",
            "SELECT * REPLACE ((SELECT max(x) FROM secrets) AS status) FROM orders",
            postgres="node_not_allowed",
            sqlite="node_not_allowed",
            works=True,
        ),
        refused(
            "in_a_tables_star",
            "SELECT o.* REPLACE ((SELECT max(x) FROM secrets) AS status) FROM orders AS o",
            postgres="node_not_allowed",
            sqlite="node_not_allowed",
            works=True,
        ),
        refused(
            "positional_join",
            "SELECT s.x FROM orders AS o POSITIONAL JOIN secrets AS s",
            postgres="unparsable",
            sqlite="unparsable",
            works=True,
        ),
        refused(
            "asof_join",
            "SELECT s.x FROM orders AS o ASOF JOIN secrets AS s ON o.id >= s.id",
            works=True,
        ),
        refused("from_first", "FROM secrets", works=True),
        refused("from_first_in_a_subquery", "SELECT (FROM secrets SELECT x)", works=True),
        refused("from_first_in_exists", "SELECT 1 WHERE EXISTS (FROM secrets)", works=True),
        refused(
            "secret_in_subquery",
            "SELECT id FROM orders WHERE status IN (SELECT x FROM secrets)",
            works=True,
        ),
        refused(
            "in_union_by_name",
            "SELECT id FROM orders UNION ALL BY NAME SELECT id FROM secrets",
            works=True,
        ),
        refused(
            "in_lateral",
            "SELECT l.x FROM orders AS o, LATERAL (SELECT x FROM secrets) AS l",
            works=True,
        ),
        refused(
            "in_a_list", "SELECT [(SELECT x FROM secrets)]", sqlite="unknown_column", works=True
        ),
        refused(
            "in_qualify",
            ("SELECT id FROM orders QUALIFY row_number() OVER () = (SELECT max(id) FROM secrets)"),
            postgres="node_not_allowed",
            sqlite="node_not_allowed",
            works=True,
        ),
        refused(
            "in_filter",
            "SELECT count(*) FILTER ((SELECT max(id) FROM secrets) = 1) FROM orders",
            works=True,
        ),
        refused(
            "in_semi_join",
            "SELECT o.id FROM orders AS o SEMI JOIN secrets AS s ON s.id = o.id",
            works=True,
        ),
        refused(
            "in_the_cte_of_its_name",
            "WITH secrets AS (SELECT x FROM secrets) SELECT x FROM secrets",
            sqlite="unknown_column",
            works=True,
        ),
        refused(
            "with_a_prefix_alias",
            "SELECT orders.x FROM orders: secrets",
            postgres="node_not_allowed",
            sqlite="node_not_allowed",
            works=True,
        ),
        refused("files_by_pattern", "SELECT * FROM 'FOLDER/*.csv'", works=True),
        refused(
            "file_in_a_join",
            "SELECT o.id FROM orders o JOIN 'FOLDER/notes.csv' n ON n.a = o.id",
            works=True,
        ),
        refused("pg_catalog_without_schema", "SELECT tablename FROM pg_tables", works=True),
        refused("system_view", "SELECT * FROM duckdb_tables", works=True),
        refused("system_schema", "SELECT * FROM system.information_schema.columns", works=True),
        refused("secret_in_three_parts", "SELECT * FROM shop.main.secrets", works=True),
        refused("url", "SELECT * FROM 'https://example.com/x.csv'"),
        refused("secret_by_a_schema", "SELECT * FROM staff.secrets"),
    ),
    "unexplained_table": (
        refused(
            "before_the_cte_that_shadows_it",
            "WITH a AS (SELECT id FROM orders), orders AS (SELECT 1 AS id) SELECT id FROM a",
            postgres=None,
            duckdb=None,
        ),
    ),
    "unknown_column": (
        refused("not_in_the_index", "SELECT salary FROM employees", duckdb="unknown_table"),
        refused(
            "not_in_the_index_qualified",
            "SELECT e.salary FROM employees AS e",
            duckdb="unknown_table",
        ),
        refused("ctid", "SELECT ctid FROM orders"),
        refused("xmin", "SELECT xmin FROM orders"),
        refused("tableoid", "SELECT o.tableoid FROM orders AS o"),
        refused(
            "system_column_in_lateral",
            (
                "SELECT x.c FROM orders AS o CROSS JOIN LATERAL (SELECT ctid AS c FROM customers "
                "AS c WHERE c.id = o.customer_id) AS x"
            ),
        ),
        refused(
            "unselected_column_of_lateral_under_a_star",
            (
                "SELECT * FROM orders AS o JOIN LATERAL (SELECT salary FROM employees AS e WHERE "
                "e.id = o.seller_id) AS x ON TRUE"
            ),
            duckdb="unknown_table",
        ),
        refused(
            "through_a_star_unqualified",
            "SELECT salary FROM (SELECT * FROM employees) AS e",
            duckdb="unknown_table",
        ),
        refused(
            "through_a_star_qualified",
            "SELECT e.salary FROM (SELECT * FROM employees) AS e",
            duckdb="unknown_table",
        ),
        refused(
            "through_the_star_of_a_cte",
            "WITH e AS (SELECT * FROM employees) SELECT e.salary FROM e",
            duckdb="unknown_table",
        ),
        refused("in_where", "SELECT name FROM employees WHERE salary > 1", duckdb="unknown_table"),
        refused("in_order", "SELECT name FROM employees ORDER BY salary", duckdb="unknown_table"),
        refused(
            "in_group", "SELECT count(*) FROM employees GROUP BY salary", duckdb="unknown_table"
        ),
        refused(
            "in_filter",
            "SELECT count(*) FILTER (WHERE salary > 1) FROM employees",
            duckdb="unknown_table",
        ),
        refused(
            "in_window",
            "SELECT rank() OVER (ORDER BY salary) FROM employees",
            duckdb="unknown_table",
        ),
        refused(
            "in_named_window",
            "SELECT rank() OVER w FROM employees WINDOW w AS (ORDER BY salary)",
            duckdb="unknown_table",
        ),
        refused(
            "in_using",
            "SELECT a.id FROM employees AS a JOIN employees AS b USING (salary)",
            duckdb="unknown_table",
        ),
        refused(
            "in_distinct_on",
            "SELECT DISTINCT ON (salary) name FROM employees",
            duckdb="unknown_table",
        ),
        refused(
            "in_exists",
            (
                "SELECT id FROM orders AS o WHERE EXISTS (SELECT 1 FROM employees AS e WHERE "
                "e.id = o.seller_id AND salary > 1)"
            ),
            duckdb="unknown_table",
        ),
        refused("of_a_table_that_is_not_joined", "SELECT pg_shadow.usename FROM orders"),
        refused("unicode_identifier", r'SELECT U&"\0073ecret" FROM orders'),
        refused(
            "in_the_cte_of_its_name",
            "WITH Orders AS (SELECT id FROM orders) SELECT id FROM orders",
            postgres=None,
            duckdb=None,
        ),
        refused(
            "bare_in_backticks",
            "SELECT `salary` FROM employees",
            postgres="unparsable",
            duckdb="unparsable",
        ),
        refused("bare_in_brackets", "SELECT [salary] FROM employees", duckdb="unknown_table"),
        refused(
            "qualified_in_double_quotes",
            'SELECT e."salary" FROM employees AS e',
            duckdb="unknown_table",
        ),
        refused("of_a_hidden_table_that_is_not_joined", "SELECT secrets.x FROM orders"),
        refused("rowid_in_double_quotes", 'SELECT "rowid" FROM orders'),
        refused("oid_in_double_quotes_and_capitals", 'SELECT "OID" FROM orders WHERE "Oid" > 1'),
        refused("rowid_of_an_outer_query", 'SELECT (SELECT "_rowid_" FROM (SELECT 1)) FROM orders'),
        refused("another_name_of_rowid", "SELECT _rowid_ FROM orders"),
        refused("name_of_a_table", "SELECT orders FROM orders", postgres=None, duckdb=None),
        refused("in_a_table", "SELECT id FROM orders WHERE id IN secrets"),
        refused("in_a_table_of_main", "SELECT id FROM orders WHERE id IN main.secrets"),
        refused(
            "double_quotes_that_spell_an_output_without_a_name",
            'SELECT "COUNT( * )" FROM (SELECT count(*) FROM orders)',
        ),
        refused(
            "the_user_before_a_dot",
            "SELECT ('' || current_user || current_schema).trim()",
            postgres="unparsable",
            sqlite="unexplained_column",
            works=True,
        ),
        refused(
            "the_catalog_before_a_dot",
            "SELECT [current_catalog].list_max()",
            postgres="unparsable",
            sqlite="node_not_allowed",
            works=True,
        ),
        refused(
            "niladic_function_in_capitals",
            "SELECT CURRENT_SCHEMA",
            postgres="function_not_allowed",
            works=True,
        ),
        refused("session_user", "SELECT session_user", postgres="function_not_allowed", works=True),
        refused("catalog", "SELECT current_catalog", postgres="function_not_allowed", works=True),
        refused("bare", "SELECT password FROM customers"),
        refused("qualified", "SELECT c.password FROM customers AS c"),
        refused(
            "excluded",
            "SELECT * EXCLUDE (password) FROM customers",
            postgres="node_not_allowed",
            sqlite="node_not_allowed",
        ),
        refused(
            "excluded_from_another_table",
            "SELECT c.* EXCLUDE (status) FROM customers c, orders o",
            postgres="node_not_allowed",
            sqlite="node_not_allowed",
        ),
        refused(
            "replaced",
            "SELECT * REPLACE (1 AS password) FROM customers",
            postgres="node_not_allowed",
            sqlite="node_not_allowed",
        ),
        refused(
            "in_a_star",
            "SELECT * REPLACE (password AS name) FROM customers",
            postgres="node_not_allowed",
            sqlite="node_not_allowed",
        ),
        refused(
            "excluded_below",
            "SELECT country FROM (SELECT * EXCLUDE (country) FROM customers) AS c",
            postgres="node_not_allowed",
            sqlite="node_not_allowed",
        ),
    ),
}
