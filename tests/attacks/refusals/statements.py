"""Texts of more than one statement, and statements that are no query."""

from __future__ import annotations

from tests.attacks.refusals.refusal import Families, refused

FAMILIES: Families = {
    "multiple_statements": (
        refused("nothing", ""),
        refused("comment_only", "-- SELECT 1"),
        refused("two_queries", "SELECT 1; SELECT 2", works=True),
        refused("stacked_delete", "SELECT 1; DELETE FROM orders"),
        refused("empty_statement_between", "SELECT 1;;SELECT 2"),
        refused(
            "null_byte_before_the_second", "SELECT 1\0; DROP TABLE orders", postgres="unparsable"
        ),
        refused("stacked_pragma", "SELECT 1; PRAGMA query_only = OFF"),
        refused("stacked_attach", "SELECT 1; ATTACH '/tmp/x' AS x", postgres="unparsable"),
        refused("trigger", "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END"),
        refused("stacked_set", "SELECT 1; SET threads = 1", works=True),
        refused(
            "stacked_attach_in_memory",
            "SELECT 1; ATTACH ':memory:' AS x",
            postgres="unparsable",
            works=True,
        ),
        refused("stacked_copy", "SELECT 1; COPY secrets TO 'FOLDER/out.csv'", works=True),
        refused(
            "statement_after_block_comment",
            "SELECT 1 /* ; SELECT 2 */; DROP VIEW totals",
            works=True,
        ),
        refused("statement_after_line_comment", "SELECT 1 -- one\n; DROP VIEW totals", works=True),
        refused(
            "statement_after_quotes_in_a_string", "SELECT 'it''s'; DROP VIEW totals", works=True
        ),
        refused(
            "backslash_does_not_escape_a_quote", r"SELECT '\'; DROP VIEW totals; --'", works=True
        ),
    ),
    "not_a_query": (
        refused("create_function", "CREATE FUNCTION f() RETURNS int AS 'SELECT 1' LANGUAGE sql"),
        refused("create_extension", "CREATE EXTENSION dblink"),
        refused("alter_table", "ALTER TABLE orders ADD COLUMN x int"),
        refused("alter_role", "ALTER ROLE reader SUPERUSER"),
        refused("alter_system", "ALTER SYSTEM SET work_mem = '1GB'"),
        refused("comment_on", "COMMENT ON TABLE orders IS 'x'", works=True),
        refused("copy_to_program", "COPY (SELECT 1) TO PROGRAM 'id'"),
        refused("do", "DO $$ BEGIN PERFORM 1; END $$", sqlite="unparsable", duckdb="unparsable"),
        refused("call", "CALL p()"),
        refused("set", "SET statement_timeout = 0"),
        refused("set_role", "SET ROLE postgres"),
        refused("set_transaction", "SET TRANSACTION READ WRITE"),
        refused("set_authorization", "SET SESSION AUTHORIZATION postgres"),
        refused("reset", "RESET ALL"),
        refused("show", "SHOW ALL", duckdb="unparsable"),
        refused("explain", "EXPLAIN SELECT 1", works=True),
        refused("explain_analyze", "EXPLAIN ANALYZE DELETE FROM orders"),
        refused("prepare", "PREPARE p AS SELECT 1", works=True),
        refused("execute", "EXECUTE p"),
        refused("deallocate", "DEALLOCATE ALL"),
        refused(
            "declare_cursor",
            "DECLARE c CURSOR FOR SELECT 1",
            sqlite="unparsable",
            duckdb="unparsable",
        ),
        refused("fetch_cursor", "FETCH ALL FROM c"),
        refused("lock", "LOCK TABLE orders", sqlite="unparsable", duckdb="unparsable"),
        refused("notify", "NOTIFY channel"),
        refused("listen", "LISTEN channel"),
        refused("load", "LOAD 'library'"),
        refused("analyze", "ANALYZE orders"),
        refused("cluster", "CLUSTER orders"),
        refused("reindex", "REINDEX TABLE orders", sqlite="unparsable", duckdb="unparsable"),
        refused("begin", "BEGIN"),
        refused("commit", "COMMIT"),
        refused("rollback", "ROLLBACK"),
        refused("savepoint", "SAVEPOINT a"),
        refused("attach", "ATTACH DATABASE '/tmp/x' AS x", postgres="unparsable"),
        refused("attach_short", "attach '/tmp/x' as x", postgres="unparsable"),
        refused("detach", "DETACH main"),
        refused("pragma", "PRAGMA query_only = OFF"),
        refused("pragma_call", "PRAGMA table_info(orders)"),
        refused(
            "pragma_writable_schema",
            "PRAGMA writable_schema = ON",
            postgres="unparsable",
            duckdb="unparsable",
        ),
        refused("vacuum", "VACUUM", works=True),
        refused("analyze_everything", "ANALYZE", works=True),
        refused("begin_immediate", "BEGIN IMMEDIATE"),
        refused("release", "RELEASE a"),
        refused("explain_query_plan", "EXPLAIN QUERY PLAN SELECT 1"),
        refused("insert_or_replace", "INSERT OR REPLACE INTO orders (id) VALUES (1)"),
        refused(
            "replace",
            "REPLACE INTO orders (id) VALUES (1)",
            postgres="unparsable",
            duckdb="unparsable",
        ),
        refused(
            "insert_behind_cte", "WITH x AS (SELECT 9) INSERT INTO orders (id) SELECT * FROM x"
        ),
        refused("create_temp_table", "CREATE TEMP TABLE copy (a)"),
        refused("create_temp_view", "CREATE TEMP VIEW v AS SELECT * FROM secrets", works=True),
        refused("create_virtual_table", "CREATE VIRTUAL TABLE x USING fts5(a)"),
        refused("alter", "ALTER TABLE orders RENAME TO x"),
        refused("insert", "INSERT INTO returns VALUES (2, 1)", works=True),
        refused(
            "insert_by_name",
            "INSERT INTO returns BY NAME SELECT 2 AS order_id, 1 AS line_no",
            works=True,
        ),
        refused(
            "insert_or_replace_a_row",
            "INSERT OR REPLACE INTO staff.employees VALUES (1, 'x', 1, 1, NULL)",
            works=True,
        ),
        refused("update", "UPDATE staff.employees SET salary = 0", works=True),
        refused("delete_returning", "DELETE FROM returns RETURNING order_id", works=True),
        refused("truncate", "TRUNCATE returns", works=True),
        refused(
            "merge",
            (
                "MERGE INTO returns AS r USING orders AS o ON r.order_id = o.id WHEN MATCHED "
                "THEN DELETE"
            ),
            works=True,
        ),
        refused("drop", "DROP VIEW totals", works=True),
        refused("create_table_as", "CREATE TABLE copy AS SELECT * FROM secrets", works=True),
        refused("create_macro", "CREATE MACRO lower(x) AS 'x'", works=True),
        refused("create_sequence", "CREATE SEQUENCE s", works=True),
        refused("create_type", "CREATE TYPE t AS ENUM ('a')", works=True),
        refused("alter_by_adding", "ALTER TABLE returns ADD COLUMN x INT", works=True),
        refused(
            "copy_a_query_out", "COPY (SELECT * FROM secrets) TO 'FOLDER/out.parquet'", works=True
        ),
        refused("copy_in", "COPY returns FROM 'FOLDER/notes.csv'", works=True),
        refused(
            "attach_a_duckdb_file",
            "ATTACH 'FOLDER/x.duckdb' AS x",
            postgres="unparsable",
            works=True,
        ),
        refused("attach_memory", "attach ':memory:' as x", postgres="unparsable", works=True),
        refused("set_variable", "SET VARIABLE x = 1", works=True),
        refused("pragma_that_lists", "PRAGMA database_list", works=True),
        refused("pragma_call_on_a_hidden_table", "PRAGMA table_info('secrets')", works=True),
        refused("call_of_a_pragma", "CALL pragma_version()", works=True),
        refused("begin_transaction", "BEGIN TRANSACTION", works=True),
        refused("force_checkpoint", "FORCE CHECKPOINT", works=True),
        refused("explain_analyze_of_a_query", "EXPLAIN ANALYZE SELECT 1", works=True),
        refused("pivot", "PIVOT orders ON status USING count(*)", works=True),
        refused("unpivot", "UNPIVOT returns ON order_id, line_no", works=True),
        refused("delete_behind_cte", "WITH x AS (SELECT 1) DELETE FROM returns", works=True),
        refused("install", "INSTALL httpfs"),
        refused("detach_by_name", "DETACH shop"),
    ),
}
