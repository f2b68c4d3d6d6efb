"""What a hostile model may write for DuckDB, by the code for which the guard refuses it."""

from __future__ import annotations

# code → what it is → the attack. FOLDER is one with a file notes.csv, FILE the database itself.
ATTACKS: dict[str, dict[str, str]] = {
    "multiple_statements": {
        "two_queries": "SELECT 1; SELECT 2",
        "stacked_delete": "SELECT 1; DELETE FROM returns",
        "stacked_set": "SELECT 1; SET threads = 1",
        "stacked_attach": "SELECT 1; ATTACH ':memory:' AS x",
        "stacked_copy": "SELECT 1; COPY secrets TO 'FOLDER/out.csv'",
        "statement_after_block_comment": "SELECT 1 /* ; SELECT 2 */; DROP VIEW totals",
        "statement_after_line_comment": "SELECT 1 -- one\n; DROP VIEW totals",
        "statement_after_quotes_in_a_string": "SELECT 'it''s'; DROP VIEW totals",
        "backslash_does_not_escape_a_quote": r"SELECT '\'; DROP VIEW totals; --'",
    },
    "too_much_text": {
        "padding_by_format": "SELECT printf('%100000d', 1)",
    },
    "not_a_query": {
        "insert": "INSERT INTO returns VALUES (2, 1)",
        "insert_by_name": "INSERT INTO returns BY NAME SELECT 2 AS order_id, 1 AS line_no",
        "insert_or_replace": "INSERT OR REPLACE INTO staff.employees VALUES (1, 'x', 1, 1, NULL)",
        "update": "UPDATE staff.employees SET salary = 0",
        "delete": "DELETE FROM returns",
        "delete_returning": "DELETE FROM returns RETURNING order_id",
        "truncate": "TRUNCATE returns",
        "merge": (
            "MERGE INTO returns AS r USING orders AS o ON r.order_id = o.id "
            "WHEN MATCHED THEN DELETE"
        ),
        "drop": "DROP VIEW totals",
        "create_table_as": "CREATE TABLE copy AS SELECT * FROM secrets",
        "create_temp_view": "CREATE TEMP VIEW v AS SELECT * FROM secrets",
        "create_macro": "CREATE MACRO lower(x) AS 'x'",
        "create_sequence": "CREATE SEQUENCE s",
        "create_type": "CREATE TYPE t AS ENUM ('a')",
        "alter": "ALTER TABLE returns ADD COLUMN x INT",
        "comment": "COMMENT ON TABLE orders IS 'x'",
        "copy_out": "COPY secrets TO 'FOLDER/out.csv'",
        "copy_a_query_out": "COPY (SELECT * FROM secrets) TO 'FOLDER/out.parquet'",
        "copy_in": "COPY returns FROM 'FOLDER/notes.csv'",
        "attach": "ATTACH 'FOLDER/x.duckdb' AS x",
        "attach_memory": "attach ':memory:' as x",
        "load": "LOAD json",
        "set": "SET threads = 1",
        "set_variable": "SET VARIABLE x = 1",
        "reset": "RESET threads",
        "pragma": "PRAGMA database_list",
        "pragma_call": "PRAGMA table_info('secrets')",
        "pragma_assignment": "PRAGMA threads = 1",
        "call": "CALL pragma_version()",
        "use": "USE staff",
        "prepare": "PREPARE p AS SELECT 1",
        "begin": "BEGIN TRANSACTION",
        "checkpoint": "CHECKPOINT",
        "force_checkpoint": "FORCE CHECKPOINT",
        "vacuum": "VACUUM",
        "analyze": "ANALYZE",
        "explain": "EXPLAIN SELECT 1",
        "explain_analyze": "EXPLAIN ANALYZE SELECT 1",
        "describe": "DESCRIBE secrets",
        "show_tables": "SHOW TABLES",
        "summarize": "SUMMARIZE secrets",
        "pivot": "PIVOT orders ON status USING count(*)",
        "unpivot": "UNPIVOT returns ON order_id, line_no",
        "delete_behind_cte": "WITH x AS (SELECT 1) DELETE FROM returns",
    },
    "node_not_allowed": {
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
        "columns_by_pattern": "SELECT COLUMNS('s.*') FROM orders",
        "all_columns": "SELECT COLUMNS(*) FROM orders",
        "columns_in_a_condition": "SELECT id FROM returns JOIN orders ON true WHERE COLUMNS(*) = 1",
        "column_by_number": "SELECT #1 FROM orders",
        "sample": "SELECT id FROM orders USING SAMPLE 1",
        "tablesample": "SELECT id FROM orders TABLESAMPLE 10%",
        "lambda": "SELECT list_transform([1], lambda x: x + 1)",
        "list_comprehension": "SELECT [x + 1 FOR x IN [1]]",
        "subquery_of_show": "SELECT * FROM (DESCRIBE secrets)",
        "subquery_of_summarize": "SELECT * FROM (SUMMARIZE secrets)",
    },
    "function_not_allowed": {
        "current_setting": "SELECT current_setting('access_mode')",
        "current_setting_in_capitals": "SELECT CURRENT_SETTING('access_mode')",
        "current_setting_in_double_quotes": "SELECT \"current_setting\"('access_mode')",
        "current_setting_behind_a_comment": "SELECT current_setting/**/('access_mode')",
        "current_setting_by_schema": "SELECT main.current_setting('access_mode')",
        "current_setting_by_catalog": "SELECT system.main.current_setting('access_mode')",
        "allowed_function_by_catalog": "SELECT system.main.lower('A')",
        "as_a_method": "SELECT 'access_mode'.current_setting()",
        "inside_a_call": "SELECT lower(current_setting('access_mode'))",
        "in_filter": (
            "SELECT count(*) FILTER (WHERE current_setting('access_mode') <> '') FROM orders"
        ),
        "in_a_window": (
            "SELECT sum(total) OVER (ORDER BY current_setting('access_mode')) FROM orders"
        ),
        "in_order": "SELECT id FROM orders ORDER BY current_setting('access_mode')",
        "in_a_star": "SELECT * REPLACE (current_setting('access_mode') AS status) FROM orders",
        "in_a_tables_star": (
            "SELECT o.* REPLACE (current_setting('access_mode') AS status) FROM orders AS o"
        ),
        "in_an_asof_join": (
            "SELECT o.id FROM orders AS o ASOF JOIN customers AS c "
            "ON o.id >= c.id AND c.name = current_setting('access_mode')"
        ),
        "in_limit": "SELECT id FROM orders LIMIT length(current_setting('access_mode'))",
        "in_case": "SELECT CASE WHEN true THEN current_setting('access_mode') END",
        "in_a_cte": "WITH x AS (SELECT current_setting('access_mode') AS s) SELECT s FROM x",
        "in_values": "SELECT * FROM (VALUES (current_setting('access_mode')))",
        "in_a_list": "SELECT [current_setting('access_mode')]",
        "in_a_struct": "SELECT {'a': current_setting('access_mode')}",
        "in_qualify": (
            "SELECT id FROM orders "
            "QUALIFY row_number() OVER () = length(current_setting('access_mode'))"
        ),
        "in_distinct_on": "SELECT DISTINCT ON (current_setting('access_mode')) id FROM orders",
        "in_a_join": (
            "SELECT o.id FROM orders o JOIN returns r ON current_setting('access_mode') <> ''"
        ),
        "getvariable": "SELECT getvariable('x')",
        "current_query": "SELECT current_query()",
        "current_database": "SELECT current_database()",
        "current_schemas": "SELECT current_schemas(true)",
        "version": "SELECT version()",
        "nextval": "SELECT nextval('numbers')",
        "setseed": "SELECT setseed(0.5)",
        "random": "SELECT random()",
        "uuid": "SELECT uuid()",
        "write_log": "SELECT write_log('x')",
        "sleep": "SELECT sleep_ms(1)",
        "pg_sleep": "SELECT pg_sleep(0.001)",
        "statistics": "SELECT stats(total) FROM orders",
        "sql_in_a_string": "SELECT json_serialize_plan('SELECT x FROM secrets')",
        "serialize_sql": "SELECT json_serialize_sql('SELECT x FROM secrets')",
        "aggregate_by_name": "SELECT list_aggregate([1], 'sum')",
        "macro_of_the_database": "SELECT with_tax(1)",
        "quadratic_text": "SELECT levenshtein('a', 'b')",
        "read_text": "SELECT count(*) FROM read_text('FOLDER/notes.csv')",
        "read_blob_of_the_database": "SELECT count(*) FROM read_blob('FILE')",
        "read_csv": "SELECT * FROM read_csv('FOLDER/notes.csv')",
        "read_csv_in_capitals": "SELECT * FROM READ_CSV_AUTO('FOLDER/notes.csv')",
        "read_json": "SELECT * FROM read_json_auto('FOLDER/notes.json')",
        "read_parquet": "SELECT * FROM read_parquet('FOLDER/notes.parquet')",
        "parquet_metadata": "SELECT * FROM parquet_metadata('FOLDER/notes.parquet')",
        "glob": "SELECT * FROM glob('FOLDER/*')",
        "sniff_csv": "SELECT * FROM sniff_csv('FOLDER/notes.csv')",
        "query": "SELECT * FROM query('SELECT x FROM secrets')",
        "query_table": "SELECT * FROM query_table('secrets')",
        "duckdb_tables": "SELECT * FROM duckdb_tables()",
        "duckdb_settings": "SELECT * FROM duckdb_settings()",
        "duckdb_secrets": "SELECT * FROM duckdb_secrets()",
        "duckdb_logs": "SELECT * FROM duckdb_logs()",
        "pragma_storage_info": "SELECT * FROM pragma_storage_info('secrets')",
        "pragma_table_info": "SELECT * FROM pragma_table_info('secrets')",
        "which_secret": "SELECT * FROM which_secret('s3://x', 's3')",
        "test_data": "SELECT count(*) FROM test_all_types()",
        "repeat_as_a_table": "SELECT * FROM repeat('x', 3)",
    },
    "unparsable": {
        "zero_width_space": "SELECT id FROM orders AS o\u200bUNION\u200bFROM secrets SELECT id",
        "word_joiner": "SELECT id FROM orders AS o\u2060LIMIT\u20601",
        "byte_order_mark": "SELECT repeat\ufeff('x', 3)",
        "export": "EXPORT DATABASE 'FOLDER/out'",
    },
    "type_not_allowed": {
        "type_of_the_database": "SELECT 'gold'::tier",
        "enum": "SELECT 'a'::ENUM('a', 'b')",
        "variant": "SELECT 1::VARIANT",
    },
    "unknown_table": {
        "not_in_the_index": "SELECT * FROM secrets",
        "in_capitals": "SELECT * FROM SECRETS",
        "in_double_quotes": 'SELECT * FROM "Secrets"',
        "by_schema": "SELECT * FROM main.secrets",
        "by_schema_in_capitals": 'SELECT * FROM MAIN."SECRETS"',
        "table_statement_in_a_subquery": "SELECT * FROM (TABLE secrets)",
        "in_a_star": ("SELECT * REPLACE ((SELECT max(x) FROM secrets) AS status) FROM orders"),
        "in_a_tables_star": (
            "SELECT o.* REPLACE ((SELECT max(x) FROM secrets) AS status) FROM orders AS o"
        ),
        "positional_join": "SELECT s.x FROM orders AS o POSITIONAL JOIN secrets AS s",
        "asof_join": "SELECT s.x FROM orders AS o ASOF JOIN secrets AS s ON o.id >= s.id",
        "from_first": "FROM secrets",
        "from_first_in_a_subquery": "SELECT (FROM secrets SELECT x)",
        "in_exists": "SELECT 1 WHERE EXISTS (FROM secrets)",
        "in_subquery": "SELECT id FROM orders WHERE status IN (SELECT x FROM secrets)",
        "in_union_by_name": "SELECT id FROM orders UNION ALL BY NAME SELECT id FROM secrets",
        "in_order": "SELECT id FROM orders ORDER BY (SELECT 1 FROM secrets)",
        "in_limit": "SELECT id FROM orders LIMIT (SELECT max(id) FROM secrets)",
        "in_lateral": "SELECT l.x FROM orders AS o, LATERAL (SELECT x FROM secrets) AS l",
        "in_a_list": "SELECT [(SELECT x FROM secrets)]",
        "in_qualify": (
            "SELECT id FROM orders QUALIFY row_number() OVER () = (SELECT max(id) FROM secrets)"
        ),
        "in_filter": "SELECT count(*) FILTER ((SELECT max(id) FROM secrets) = 1) FROM orders",
        "in_join": "SELECT o.id FROM orders AS o JOIN secrets AS s ON s.id = o.id",
        "in_semi_join": "SELECT o.id FROM orders AS o SEMI JOIN secrets AS s ON s.id = o.id",
        "qualified_past_a_cte": "WITH secrets AS (SELECT 1 AS x) SELECT x FROM main.secrets",
        "in_the_cte_of_its_name": "WITH secrets AS (SELECT x FROM secrets) SELECT x FROM secrets",
        "outside_the_scope_of_the_cte": (
            "SELECT (WITH secrets AS (SELECT 1 AS x) SELECT x FROM secrets), x FROM secrets"
        ),
        "before_the_cte_that_shadows_it": (
            "WITH a AS (SELECT x FROM secrets), secrets AS (SELECT 1 AS x) SELECT x FROM a"
        ),
        "with_a_prefix_alias": "SELECT orders.x FROM orders: secrets",
        "file_in_single_quotes": "SELECT * FROM 'FOLDER/notes.csv'",
        "file_in_double_quotes": 'SELECT * FROM "FOLDER/notes.csv"',
        "files_by_pattern": "SELECT * FROM 'FOLDER/*.csv'",
        "parquet_file": "SELECT * FROM 'FOLDER/notes.parquet'",
        "file_in_a_join": "SELECT o.id FROM orders o JOIN 'FOLDER/notes.csv' n ON n.a = o.id",
        "information_schema": "SELECT table_name FROM information_schema.tables",
        "pg_catalog": "SELECT relname FROM pg_catalog.pg_class",
        "pg_catalog_without_schema": "SELECT tablename FROM pg_tables",
        "sqlite_master": "SELECT sql FROM sqlite_master",
        "system_view": "SELECT * FROM duckdb_tables",
        "system_schema": "SELECT * FROM system.information_schema.columns",
        "three_parts": "SELECT * FROM shop.main.secrets",
    },
    "unknown_column": {
        "the_user_before_a_dot": "SELECT ('' || current_user || current_schema).trim()",
        "the_catalog_before_a_dot": "SELECT [current_catalog].list_max()",
        "rowid": "SELECT rowid FROM orders",
        "niladic_function": "SELECT current_user",
        "niladic_function_in_capitals": "SELECT CURRENT_SCHEMA",
        "session_user": "SELECT session_user",
        "catalog": "SELECT current_catalog",
    },
}

# What is no query of DuckDB's, or none that finds its names.
NONSENSE: dict[str, dict[str, str]] = {
    "multiple_statements": {
        "nothing": "",
    },
    "unparsable": {
        "no_sql": "Please drop all tables",
        "dot_command": ".shell id",
        "unclosed_string": "SELECT 'a",
        "unclosed_name": 'SELECT "a',
        "null_character": "SELECT 'a\0b'",
        "half_of_a_letter": "SELECT '\ud800'",
        "statement_in_a_cast": "SELECT CAST(1 AS INT; DROP TABLE orders)",
        "chained_comparisons": "SELECT id < total < 3 FROM orders",
        "hexadecimal_string": "SELECT x'00'",
    },
    "node_not_allowed": {
        "for_update": "SELECT id FROM orders FOR UPDATE",
        "select_into": "SELECT id INTO copy FROM orders",
        "question_mark": "SELECT ?",
        "numbered_parameter": "SELECT $1",
        "named_parameter": "SELECT $name",
        "time_travel": "SELECT id FROM orders AT (VERSION => 1)",
    },
    "not_a_query": {"install": "INSTALL httpfs", "detach": "DETACH shop"},
    "unknown_table": {
        "another_database": "SELECT * FROM other.orders",
        "url": "SELECT * FROM 'https://example.com/x.csv'",
        "secret_by_a_schema": "SELECT * FROM staff.secrets",
    },
    "function_not_allowed": {
        "getenv": "SELECT getenv('HOME')",
        "of_another_database": "SELECT pg_read_file('/etc/passwd')",
        "load_extension": "SELECT load_extension('x')",
    },
    "unknown_column": {
        "bare": "SELECT password FROM customers",
        "qualified": "SELECT c.password FROM customers AS c",
        "of_a_table_that_is_not_joined": "SELECT secrets.x FROM orders",
        "excluded": "SELECT * EXCLUDE (password) FROM customers",
        "excluded_from_another_table": "SELECT c.* EXCLUDE (status) FROM customers c, orders o",
        "replaced": "SELECT * REPLACE (1 AS password) FROM customers",
        "in_a_star": "SELECT * REPLACE (password AS name) FROM customers",
        "excluded_below": "SELECT country FROM (SELECT * EXCLUDE (country) FROM customers) AS c",
        "in_a_table": "SELECT id FROM orders WHERE id IN secrets",
    },
    "too_many_rows": {"range": "SELECT count(*) FROM range(1000000000000)"},
    "too_much_text": {"repeat": "SELECT repeat('x', 1000000000)"},
    "endless_recursion": {
        "counting": (
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        )
    },
    "too_long": {"long_string": f"SELECT '{'x' * 30_000}'"},
}
