"""Functions that reach out, wait, tell of the server, or run a text."""

from __future__ import annotations

from tests.attacks.refusals.refusal import Refusal, refused

REFUSALS: tuple[Refusal, ...] = (
    *refused(
        "function_not_allowed",
        {
            "function_as_table": "SELECT * FROM pg_ls_dir('/')",
            "sleep": "SELECT pg_sleep(10)",
            "sleep_in_capitals": "SELECT PG_SLEEP(10)",
            "sleep_quoted": 'SELECT "pg_sleep"(10)',
            "sleep_in_where": "SELECT id FROM orders WHERE pg_sleep(1) IS NULL",
            "sleep_in_order": "SELECT id FROM orders ORDER BY pg_sleep(1)",
            "sleep_in_window": "SELECT sum(total) OVER (ORDER BY pg_sleep(1)) FROM orders",
            "sleep_in_aggregate": "SELECT max(pg_sleep(1)) FILTER (WHERE TRUE) FROM orders",
            "sleep_after_carriage_return": "SELECT 1 -- \r, pg_sleep(1)",
            "sleep_after_null_byte_in_comment": "SELECT 1 /* \0 */, pg_sleep(1)",
            "read_file": "SELECT pg_read_file('/etc/passwd')",
            "read_file_inside_call": "SELECT lower(pg_read_file('/etc/passwd'))",
            "list_directory": "SELECT pg_ls_dir('/')",
            "stat_file": "SELECT pg_stat_file('/etc/passwd')",
            "large_object_import": "SELECT lo_import('/etc/passwd')",
            "large_object_read": "SELECT lo_get(1)",
            "set_config": "SELECT set_config('role', 'postgres', false)",
            "query_to_xml": "SELECT query_to_xml('SELECT 1', true, true, '')",
            "database_to_xml": "SELECT database_to_xml(true, true, '')",
            "terminate_backend": "SELECT pg_terminate_backend(1)",
            "cancel_backend": "SELECT pg_cancel_backend(1)",
            "setval": "SELECT setval('s', 1)",
            "notify_function": "SELECT pg_notify('channel', 'x')",
            "server_address": "SELECT inet_server_addr()",
            "table_privilege": "SELECT has_table_privilege('orders', 'SELECT')",
            "view_definition": "SELECT pg_get_viewdef(1)",
            "pragma_function": "SELECT * FROM pragma_table_info('orders')",
            "pragma_function_of_main": "SELECT * FROM main.pragma_table_info('orders')",
            "directory": "SELECT * FROM fsdir('/')",
            "load_extension": "SELECT load_extension('x')",
            "load_extension_in_capitals": "SELECT LOAD_Extension('x', 'y')",
            "load_extension_in_double_quotes": "SELECT \"load_extension\"('x')",
            "load_extension_behind_a_comment": "SELECT load_extension/**/('x')",
            "load_extension_inside_a_call": "SELECT lower(load_extension('x'))",
            "load_extension_in_filter": (
                "SELECT count(*) FILTER (WHERE load_extension('x')) FROM orders"
            ),
            "load_extension_in_window": (
                "SELECT sum(total) OVER (ORDER BY load_extension('x')) FROM orders"
            ),
            "load_extension_in_order": "SELECT id FROM orders ORDER BY load_extension('x')",
            "load_extension_in_limit": "SELECT id FROM orders LIMIT load_extension('x')",
            "load_extension_in_case": "SELECT CASE WHEN load_extension('x') THEN 1 END",
            "load_extension_in_cte": "WITH x AS (SELECT load_extension('x')) SELECT 1 FROM x",
            "load_extension_in_values": "SELECT * FROM (VALUES (load_extension('x')))",
            "writefile": "SELECT writefile('/tmp/x', 'y')",
            "edit": "SELECT edit('x')",
            "zeroblob": "SELECT length(zeroblob(1000000000))",
            "randomblob": "SELECT randomblob(1000000000)",
            "offset": "SELECT sqlite_offset(id) FROM orders",
            "changes": "SELECT changes()",
            "getenv": "SELECT getenv('HOME')",
        },
    ),
    *refused(
        "function_not_allowed",
        {
            "sleep_qualified": "SELECT pg_catalog.pg_sleep(10)",
            "sleep_in_lateral": "SELECT id FROM orders, LATERAL (SELECT pg_sleep(1)) AS s",
            "list_directory_lateral": "SELECT * FROM LATERAL pg_ls_dir('/') AS f",
        },
        sqlite="node_not_allowed",
    ),
    *refused(
        "function_not_allowed",
        {
            "current_database": "SELECT current_database()",
            "current_setting": "SELECT current_setting('access_mode')",
            "current_setting_in_capitals": "SELECT CURRENT_SETTING('access_mode')",
            "current_setting_in_double_quotes": "SELECT \"current_setting\"('access_mode')",
            "current_setting_behind_a_comment": "SELECT current_setting/**/('access_mode')",
            "inside_a_call": "SELECT lower(current_setting('access_mode'))",
            "in_filter": (
                "SELECT count(*) FILTER (WHERE current_setting('access_mode') <> '') FROM orders"
            ),
            "in_a_window": (
                "SELECT sum(total) OVER (ORDER BY current_setting('access_mode')) FROM orders"
            ),
            "in_order": "SELECT id FROM orders ORDER BY current_setting('access_mode')",
            "in_limit": "SELECT id FROM orders LIMIT length(current_setting('access_mode'))",
            "in_case": "SELECT CASE WHEN true THEN current_setting('access_mode') END",
            "in_a_cte": "WITH x AS (SELECT current_setting('access_mode') AS s) SELECT s FROM x",
            "in_values": "SELECT * FROM (VALUES (current_setting('access_mode')))",
            "in_a_join": (
                "SELECT o.id FROM orders o JOIN returns r ON current_setting('access_mode') <> ''"
            ),
            "getvariable": "SELECT getvariable('x')",
            "current_schemas": "SELECT current_schemas(true)",
            "nextval": "SELECT nextval('numbers')",
            "setseed": "SELECT setseed(0.5)",
            "random": "SELECT random()",
            "uuid": "SELECT uuid()",
            "statistics": "SELECT stats(total) FROM orders",
            "sql_in_a_string": "SELECT json_serialize_plan('SELECT x FROM secrets')",
            "serialize_sql": "SELECT json_serialize_sql('SELECT x FROM secrets')",
            "macro_of_the_database": "SELECT with_tax(1)",
            "quadratic_text": "SELECT levenshtein('a', 'b')",
            "read_blob_of_the_database": "SELECT count(*) FROM read_blob('FILE')",
            "read_csv_in_capitals": "SELECT * FROM READ_CSV_AUTO('FOLDER/notes.csv')",
            "read_json": "SELECT * FROM read_json_auto('FOLDER/notes.json')",
            "read_parquet": "SELECT * FROM read_parquet('FOLDER/notes.parquet')",
            "parquet_metadata": "SELECT * FROM parquet_metadata('FOLDER/notes.parquet')",
            "duckdb_secrets": "SELECT * FROM duckdb_secrets()",
            "duckdb_logs": "SELECT * FROM duckdb_logs()",
            "which_secret": "SELECT * FROM which_secret('s3://x', 's3')",
            "test_data": "SELECT count(*) FROM test_all_types()",
        },
        works=True,
    ),
    *refused(
        "function_not_allowed",
        {"session_role": ("SELECT CURRENT_USER"), "login_role": ("SELECT SESSION_USER")},
        sqlite="unknown_column",
        duckdb="unknown_column",
    ),
    *refused(
        "function_not_allowed",
        {
            "function_of_another_schema": "SELECT sales.margin()",
            "aggregate_of_another_schema": "SELECT sales.count(*) FROM orders",
            "public_shadow_of_a_builtin": "SELECT public.lower('A')",
        },
        sqlite="node_not_allowed",
        duckdb="unknown_column",
    ),
    *refused(
        "function_not_allowed",
        {
            "load_extension_in_brackets": "SELECT [load_extension]('x')",
        },
        postgres="unparsable",
        duckdb="unparsable",
    ),
    *refused(
        "function_not_allowed",
        {"load_extension_in_backticks": "SELECT `LOAD_EXTENSION`('x')"},
        postgres="unknown_column",
        duckdb="unparsable",
    ),
    *refused(
        "function_not_allowed",
        {
            "current_setting_by_schema": "SELECT main.current_setting('access_mode')",
            "current_setting_by_catalog": "SELECT system.main.current_setting('access_mode')",
            "allowed_function_by_catalog": "SELECT system.main.lower('A')",
            "in_distinct_on": "SELECT DISTINCT ON (current_setting('access_mode')) id FROM orders",
        },
        sqlite="node_not_allowed",
        works=True,
    ),
    *refused(
        "function_not_allowed",
        {
            "in_a_list": "SELECT [current_setting('access_mode')]",
            "aggregate_by_name": "SELECT list_aggregate([1], 'sum')",
        },
        sqlite="unknown_column",
        works=True,
    ),
    *refused(
        "function_not_allowed",
        {"glob": ("SELECT * FROM glob('FOLDER/*')")},
        sqlite=None,
        works=True,
    ),
    *refused(
        "function_not_allowed",
        {"repeat_as_a_table": ("SELECT * FROM repeat('x', 3)")},
        postgres=None,
        works=True,
    ),
    *refused(
        "function_not_allowed",
        {
            "as_a_method": "SELECT 'access_mode'.current_setting()",
            "in_a_struct": "SELECT {'a': current_setting('access_mode')}",
        },
        postgres="unparsable",
        sqlite="node_not_allowed",
        works=True,
    ),
    *refused(
        "function_not_allowed",
        {
            "in_a_star": "SELECT * REPLACE (current_setting('access_mode') AS status) FROM orders",
            "in_a_tables_star": (
                "SELECT o.* REPLACE (current_setting('access_mode') AS status) FROM orders AS o"
            ),
            "in_an_asof_join": (
                "SELECT o.id FROM orders AS o ASOF JOIN customers AS c ON o.id >= c.id AND "
                "c.name = current_setting('access_mode')"
            ),
            "in_qualify": (
                "SELECT id FROM orders QUALIFY row_number() OVER () = "
                "length(current_setting('access_mode'))"
            ),
        },
        postgres="node_not_allowed",
        sqlite="node_not_allowed",
        works=True,
    ),
)
