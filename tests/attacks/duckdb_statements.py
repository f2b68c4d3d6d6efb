"""DuckDB: statements that are no query, files, functions that reach out, bombs."""

from __future__ import annotations

from tests.attacks.attack import (
    FOLDER,
    SECRET,
    Answers,
    Attack,
    Carries,
    Endless,
    Evidence,
    Fails,
    Lasts,
    Leaves,
    Runs,
    Shows,
    Writes,
    one_column,
    spread,
)

_NO_SHIPMENTS = Leaves("SELECT count(*) FROM shipments", ((0,),))
_MORE_PAY = Leaves("SELECT salary FROM employees WHERE id = 7", ((6000,),))
_MANY = 5_000_000
_TWENTY_FOUR = ", ".join(f"employees AS e{number}" for number in range(24))
_SECRET_FILE = f"{FOLDER}/secret.txt"


def _statement(name: str, sql: str, works: Evidence, refused_as: str = "not_a_query") -> Attack:
    return Attack("duckdb", "statements", name, sql, works, refused_as, in_transaction=False)


def _function(
    name: str, sql: str, works: Evidence, refused_as: str = "function_not_allowed"
) -> Attack:
    return Attack("duckdb", "functions", name, sql, works, refused_as)


def _bomb(name: str, sql: str, works: Evidence, refused_as: str) -> Attack:
    return Attack("duckdb", "bombs", name, sql, works, refused_as)


ATTACKS: list[Attack] = [
    _statement(
        "merge",
        "MERGE INTO employees AS e USING (SELECT 7 AS id) AS x ON e.id = x.id "
        "WHEN MATCHED THEN UPDATE SET salary = 6000",
        _MORE_PAY,
    ),
    _statement(
        "insert_by_name",
        "INSERT INTO payroll BY NAME SELECT 2 AS id",
        Leaves("SELECT count(*) FROM payroll", ((2,),)),
    ),
    _statement(
        "create_table_as",
        "CREATE TABLE copy AS FROM employees",
        Leaves("SELECT count(*) FROM copy", ((7,),)),
    ),
    _statement(
        "create_macro",
        "CREATE MACRO lower(x) AS (SELECT max(note) FROM payroll)",
        Leaves("SELECT main.lower('a')", one_column("payroll-secret")),
    ),
    _statement("attach", f"ATTACH '{FOLDER}/attached.duckdb' AS other", Writes("attached.duckdb")),
    _statement(
        "attach_and_copy_it_all",
        f"ATTACH '{FOLDER}/stolen.duckdb' AS other; COPY FROM DATABASE scratch TO other",
        Writes("stolen.duckdb"),
        "multiple_statements",
    ),
    *spread(
        _statement,
        {
            "use": "USE main",
            "load": "LOAD json",
            "reset": "RESET threads",
            "create_secret": "CREATE SECRET s (TYPE http, BEARER_TOKEN 'x')",
            "vacuum": "VACUUM ANALYZE",
        },
        Runs(),
    ),
    _statement("copy_to_file", f"COPY payroll TO '{FOLDER}/copy.csv'", Writes("copy.csv")),
    _statement(
        "copy_query_to_file",
        f"COPY (SELECT note FROM payroll) TO '{FOLDER}/copy.parquet' (FORMAT parquet)",
        Writes("copy.parquet"),
    ),
    _statement(
        "copy_from_file",
        f"COPY payroll (note) FROM '{_SECRET_FILE}' (HEADER false)",
        Leaves("SELECT note FROM payroll WHERE id IS NULL", one_column(SECRET)),
    ),
    _statement(
        "export_database", f"EXPORT DATABASE '{FOLDER}/export'", Writes("export"), "unparsable"
    ),
    _statement(
        "install", f"INSTALL '{FOLDER}/evil.duckdb_extension'", Fails("evil.duckdb_extension")
    ),
    *spread(
        _statement,
        {"set": "SET threads = 3", "pragma": "PRAGMA threads = 3"},
        Leaves("SELECT current_setting('threads')::text", one_column("3")),
    ),
    _statement(
        "set_global",
        "SET GLOBAL memory_limit = '123MB'",
        Leaves("SELECT current_setting('memory_limit') LIKE '117%'", one_column(True)),
    ),
    _statement(
        "set_variable",
        "SET VARIABLE v = (SELECT max(note) FROM payroll)",
        Leaves("SELECT getvariable('v')", one_column("payroll-secret")),
    ),
    *spread(
        _statement,
        {"pragma_show_tables": "PRAGMA show_tables", "show": "SHOW TABLES"},
        Carries("payroll"),
    ),
    *spread(
        _statement,
        {"call": "CALL pragma_table_info('payroll')", "describe": "DESCRIBE payroll"},
        Carries("note"),
    ),
    _statement("explain_analyze", "EXPLAIN ANALYZE DELETE FROM shipments", _NO_SHIPMENTS),
    _statement(
        "prepare",
        "PREPARE p AS SELECT note FROM payroll",
        Leaves("EXECUTE p", one_column("payroll-secret")),
    ),
    _statement("summarize", "SUMMARIZE payroll", Carries("payroll-secret")),
    _statement(
        "show_in_a_subquery", "SELECT name FROM (SHOW TABLES)", Carries("payroll"), "unknown_table"
    ),
    _statement(
        "describe_in_a_subquery",
        "SELECT column_name FROM (DESCRIBE payroll)",
        Carries("note"),
        "node_not_allowed",
    ),
    _statement(
        "summarize_in_a_subquery",
        "SELECT max FROM (SUMMARIZE payroll)",
        Carries("payroll-secret"),
        "node_not_allowed",
    ),
    _statement("from_first", "FROM payroll", Shows(((1, "payroll-secret"),)), "not_permitted"),
    _statement(
        "from_first_in_a_subquery",
        "SELECT note FROM (FROM payroll)",
        Shows(one_column("payroll-secret")),
        "not_permitted",
    ),
    _statement(
        "pivot",
        "PIVOT employees ON department_id USING max(salary) GROUP BY manager_id",
        Carries("9900"),
        "not_a_query",
    ),
    _statement(
        "unpivot",
        "UNPIVOT payroll ON note INTO NAME n VALUE v",
        Carries("payroll-secret"),
        "not_a_query",
    ),
    # -- files --
    _function(
        "read_csv",
        f"SELECT * FROM read_csv('{FOLDER}/table.csv')",
        Carries(SECRET),
        "function_not_allowed",
    ),
    *spread(
        _function,
        {
            "read_text": f"SELECT count(*) FROM read_text('{_SECRET_FILE}')",
            "read_blob": f"SELECT count(*) FROM read_blob('{_SECRET_FILE}')",
        },
        Shows(((1,),)),
        "function_not_allowed",
    ),
    _function(
        "sniff_csv", f"SELECT * FROM sniff_csv('{_SECRET_FILE}')", Answers(), "function_not_allowed"
    ),
    _function(
        "glob",
        f"SELECT * FROM glob('{FOLDER}/*.txt')",
        Carries("secret.txt"),
        "function_not_allowed",
    ),
    *spread(
        _function,
        {
            "file_as_a_table": f"SELECT * FROM '{FOLDER}/table.csv'",
            "file_as_a_quoted_table": f'SELECT * FROM "{FOLDER}/table.csv"',
        },
        Carries(SECRET),
        "unknown_table",
    ),
    _function(
        "file_in_a_subquery",
        f"SELECT code FROM currencies WHERE EXISTS (SELECT 1 FROM '{FOLDER}/table.csv')",
        Shows(one_column("EUR", "USD")),
        "unknown_table",
    ),
    _function(
        "database_file",
        f"SELECT * FROM read_duckdb('{FOLDER}/pristine.duckdb', table_name = 'payroll')",
        Carries("payroll-secret"),
        "unknown_column",
    ),
    # -- SQL inside text --
    *spread(
        _function,
        {
            "query": "SELECT * FROM query('SELECT note FROM payroll')",
            "serialized_sql": (
                "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT note FROM "
                "payroll'))"
            ),
        },
        Shows(one_column("payroll-secret")),
        "function_not_allowed",
    ),
    _function(
        "query_table",
        "SELECT * FROM query_table('payroll')",
        Carries("payroll-secret"),
        "function_not_allowed",
    ),
    # -- state, time, what the engine tells of itself --
    _function("sleep_ms", "SELECT sleep_ms(50)", Lasts(50)),
    _function("nextval", "SELECT nextval('order_number')", Shows(((4711,),))),
    _function(
        "error",
        "SELECT CASE WHEN max(salary) > 9000 THEN error('yes') END FROM employees",
        Fails("yes"),
    ),
    _function("write_log", "SELECT write_log('x')", Runs()),
    _function("current_setting", "SELECT current_setting('temp_directory')", Answers()),
    _function("getvariable", "SELECT getvariable('v') IS NULL", Shows(one_column(True))),
    _function("current_database", "SELECT current_database()", Shows(one_column("scratch"))),
    _function("current_user", "SELECT current_user", Answers(), "unknown_column"),
    _function(
        "duckdb_tables", "SELECT * FROM duckdb_tables()", Carries("payroll"), "function_not_allowed"
    ),
    _function(
        "duckdb_views", "SELECT * FROM duckdb_views()", Carries("salary"), "function_not_allowed"
    ),
    *spread(
        _function,
        {
            "duckdb_columns": "SELECT * FROM duckdb_columns()",
            "table_info": "SELECT * FROM pragma_table_info('employees')",
        },
        Carries("badge"),
        "function_not_allowed",
    ),
    _function(
        "duckdb_settings",
        "SELECT * FROM duckdb_settings()",
        Carries("threads"),
        "function_not_allowed",
    ),
    _function(
        "duckdb_secrets", "SELECT count(*) FROM duckdb_secrets()", Answers(), "function_not_allowed"
    ),
    _function(
        "duckdb_databases",
        "SELECT * FROM duckdb_databases()",
        Carries("scratch"),
        "function_not_allowed",
    ),
    _function(
        "row_count_of_the_catalog",
        "SELECT max(estimated_size) AS n FROM duckdb_tables()",
        Shows(one_column(7)),
        "unknown_column",
    ),
    _function(
        "storage_info",
        "SELECT * FROM pragma_storage_info('employees')",
        Carries("9900"),
        "function_not_allowed",
    ),
    *spread(
        _function,
        {
            "information_schema": "SELECT table_name FROM information_schema.tables",
            "pg_catalog": "SELECT relname FROM pg_catalog.pg_class",
        },
        Carries("payroll"),
        "unknown_table",
    ),
    *spread(
        _function,
        {
            "statistics_of_a_column": "SELECT DISTINCT stats(salary) FROM employees",
            "statistics_of_a_filtered_column": (
                "SELECT stats(salary) FROM employees WHERE department_id = 1 LIMIT 1"
            ),
        },
        Carries("9900"),
    ),
    # -- bombs --
    *spread(
        _bomb,
        {
            "range": "SELECT sum(hash(range)) FROM range(1000000000000)",
            "generate_series": (
                "SELECT sum(hash(n)) FROM generate_series(1, 1000000000000) AS x (n)"
            ),
        },
        Endless(),
        "too_many_rows",
    ),
    _bomb(
        "unnested_range",
        "SELECT length(range(3000000)) AS n",
        Shows(((3_000_000,),)),
        "too_many_rows",
    ),
    *spread(
        _bomb,
        {
            "repeat_of_a_repeat": "SELECT length(repeat(repeat('x', 5000), 1000))",
            "lpad": f"SELECT length(lpad('x', {_MANY}, 'y'))",
        },
        Shows(((_MANY,),)),
        "too_much_text",
    ),
    _bomb(
        "repeat_row",
        "SELECT count(*) FROM repeat_row('x', num_rows = 5000000)",
        Shows(((_MANY,),)),
        "unknown_column",
    ),
    *spread(
        _bomb,
        {
            "cartesian_product": f"SELECT sum(e1.id * e2.id) FROM {_TWENTY_FOUR}",
            "cartesian_product_that_sorts": (
                f"SELECT e1.name FROM {_TWENTY_FOUR} ORDER BY e1.name || e2.name"
            ),
        },
        Endless(),
        "54001",
    ),
]
