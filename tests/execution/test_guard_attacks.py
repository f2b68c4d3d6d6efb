"""What a hostile model may write, and the code under which the guard refuses it."""

from __future__ import annotations

import pytest

from execution.guard import SqlGuard
from nl2sql.catalog import Catalog
from nl2sql.errors import IndexUnavailable
from nl2sql.types import GuardedQuery, Principal, Violation
from tests.fakes import SHOP, FakeCatalogs

# code → what it is → the attack
ATTACKS: dict[str, dict[str, str]] = {
    "multiple_statements": {
        "nothing": "",
        "comment_only": "-- SELECT 1",
        "two_queries": "SELECT 1; SELECT 2",
        "stacked_delete": "SELECT 1; DELETE FROM orders",
        "commit_then_drop": "SELECT 1; COMMIT; DROP TABLE orders",
        "statement_after_block_comment": "SELECT 1 /* ; SELECT 2 */; TRUNCATE orders",
        "statement_after_line_comment": "SELECT 1 -- one\n; DROP TABLE orders",
        "empty_statement_between": "SELECT 1;;SELECT 2",
        "backslash_does_not_escape_a_quote": (
            r"SELECT name FROM customers WHERE name = '\'; DELETE FROM orders; --'"
        ),
    },
    "not_a_query": {
        "delete": "DELETE FROM orders",
        "delete_behind_cte": "WITH x AS (SELECT 1) DELETE FROM orders",
        "insert": "INSERT INTO orders (id) VALUES (1)",
        "update": "UPDATE orders SET total = 0",
        "merge": (
            "MERGE INTO orders USING customers ON orders.customer_id = customers.id "
            "WHEN MATCHED THEN DELETE"
        ),
        "truncate": "TRUNCATE orders",
        "drop": "DROP TABLE orders",
        "create_table_as": "CREATE TABLE copy AS SELECT * FROM orders",
        "create_function": "CREATE FUNCTION f() RETURNS int AS 'SELECT 1' LANGUAGE sql",
        "create_extension": "CREATE EXTENSION dblink",
        "alter_table": "ALTER TABLE orders ADD COLUMN x int",
        "alter_role": "ALTER ROLE reader SUPERUSER",
        "alter_system": "ALTER SYSTEM SET work_mem = '1GB'",
        "grant": "GRANT ALL ON orders TO public",
        "comment_on": "COMMENT ON TABLE orders IS 'x'",
        "copy_to_file": "COPY orders TO '/tmp/orders'",
        "copy_to_program": "COPY (SELECT 1) TO PROGRAM 'id'",
        "do": "DO $$ BEGIN PERFORM 1; END $$",
        "call": "CALL p()",
        "set": "SET statement_timeout = 0",
        "set_role": "SET ROLE postgres",
        "set_transaction": "SET TRANSACTION READ WRITE",
        "set_authorization": "SET SESSION AUTHORIZATION postgres",
        "reset": "RESET ALL",
        "show": "SHOW ALL",
        "explain": "EXPLAIN SELECT 1",
        "explain_analyze": "EXPLAIN ANALYZE DELETE FROM orders",
        "prepare": "PREPARE p AS SELECT 1",
        "execute": "EXECUTE p",
        "deallocate": "DEALLOCATE ALL",
        "declare_cursor": "DECLARE c CURSOR FOR SELECT 1",
        "fetch_cursor": "FETCH ALL FROM c",
        "lock": "LOCK TABLE orders",
        "notify": "NOTIFY channel",
        "listen": "LISTEN channel",
        "discard": "DISCARD ALL",
        "checkpoint": "CHECKPOINT",
        "load": "LOAD 'library'",
        "vacuum": "VACUUM orders",
        "analyze": "ANALYZE orders",
        "cluster": "CLUSTER orders",
        "reindex": "REINDEX TABLE orders",
        "refresh": "REFRESH MATERIALIZED VIEW totals",
        "begin": "BEGIN",
        "commit": "COMMIT",
        "rollback": "ROLLBACK",
        "savepoint": "SAVEPOINT a",
    },
    "node_not_allowed": {
        "row_of_a_renamed_table": "SELECT row_to_json(t) FROM orders AS t(a)",
        "star_of_a_renamed_table_as_a_row": "SELECT row_to_json(t.*) FROM orders AS t(a)",
        "rows_from": "SELECT * FROM ROWS FROM (unnest(ARRAY[1]), pg_ls_dir('/')) AS t",
        "delete_in_cte": "WITH x AS (DELETE FROM orders RETURNING id) SELECT id FROM x",
        "insert_in_cte": (
            "WITH x AS (INSERT INTO orders (id) VALUES (1) RETURNING id) SELECT id FROM x"
        ),
        "update_in_cte": "WITH x AS (UPDATE orders SET total = 0 RETURNING id) SELECT id FROM x",
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
        "tablesample": "SELECT id FROM orders TABLESAMPLE SYSTEM (10)",
        "numbered_parameter": "SELECT $1",
        "named_parameter": "SELECT :name",
        "question_mark_parameter": "SELECT ?",
    },
    "function_not_allowed": {
        "function_as_table": "SELECT * FROM pg_ls_dir('/')",
        "sleep": "SELECT pg_sleep(10)",
        "sleep_in_capitals": "SELECT PG_SLEEP(10)",
        "sleep_qualified": "SELECT pg_catalog.pg_sleep(10)",
        "sleep_quoted": 'SELECT "pg_sleep"(10)',
        "sleep_in_where": "SELECT id FROM orders WHERE pg_sleep(1) IS NULL",
        "sleep_in_order": "SELECT id FROM orders ORDER BY pg_sleep(1)",
        "sleep_in_window": "SELECT sum(total) OVER (ORDER BY pg_sleep(1)) FROM orders",
        "sleep_in_aggregate": "SELECT max(pg_sleep(1)) FILTER (WHERE TRUE) FROM orders",
        "sleep_in_lateral": "SELECT id FROM orders, LATERAL (SELECT pg_sleep(1)) AS s",
        "sleep_after_carriage_return": "SELECT 1 -- \r, pg_sleep(1)",
        "sleep_after_null_byte_in_comment": "SELECT 1 /* \0 */, pg_sleep(1)",
        "read_file": "SELECT pg_read_file('/etc/passwd')",
        "read_file_inside_call": "SELECT lower(pg_read_file('/etc/passwd'))",
        "list_directory": "SELECT pg_ls_dir('/')",
        "list_directory_lateral": "SELECT * FROM LATERAL pg_ls_dir('/') AS f",
        "stat_file": "SELECT pg_stat_file('/etc/passwd')",
        "large_object_import": "SELECT lo_import('/etc/passwd')",
        "large_object_read": "SELECT lo_get(1)",
        "dblink_exec": "SELECT dblink_exec('DROP TABLE orders')",
        "set_config": "SELECT set_config('role', 'postgres', false)",
        "current_setting": "SELECT current_setting('is_superuser')",
        "query_to_xml": "SELECT query_to_xml('SELECT 1', true, true, '')",
        "database_to_xml": "SELECT database_to_xml(true, true, '')",
        "terminate_backend": "SELECT pg_terminate_backend(1)",
        "cancel_backend": "SELECT pg_cancel_backend(1)",
        "reload_configuration": "SELECT pg_reload_conf()",
        "advisory_lock": "SELECT pg_advisory_lock(1)",
        "advisory_transaction_lock": "SELECT pg_advisory_xact_lock(1)",
        "nextval": "SELECT nextval('s')",
        "setval": "SELECT setval('s', 1)",
        "notify_function": "SELECT pg_notify('channel', 'x')",
        "version": "SELECT version()",
        "server_address": "SELECT inet_server_addr()",
        "current_database": "SELECT current_database()",
        "session_role": "SELECT CURRENT_USER",
        "login_role": "SELECT SESSION_USER",
        "table_privilege": "SELECT has_table_privilege('orders', 'SELECT')",
        "view_definition": "SELECT pg_get_viewdef(1)",
        "function_of_another_schema": "SELECT sales.margin()",
        "aggregate_of_another_schema": "SELECT sales.count(*) FROM orders",
        "public_shadow_of_a_builtin": "SELECT public.lower('A')",
    },
    "type_not_allowed": {
        "regclass": "SELECT 'orders'::regclass",
        "regclass_by_cast": "SELECT CAST('sales.orders' AS regclass)",
        "regclass_by_prefix": "SELECT regclass 'orders'",
        "regproc": "SELECT CAST(1 AS regproc)",
        "regrole": "SELECT 'postgres'::regrole",
        "oid": "SELECT 1::oid",
        "xml": "SELECT '<a/>'::xml",
        "row_type": "SELECT '(1)'::sales.orders",
        "type_of_another_schema": "SELECT '1'::public.text",
    },
    "operator_not_allowed": {
        "operator_of_another_schema": "SELECT 1 OPERATOR(evil.+) 2",
        "operator_of_the_catalog": "SELECT 1 OPERATOR(pg_catalog.+) 2",
    },
    "unknown_table": {
        "shadow": "SELECT * FROM pg_shadow",
        "authid": "SELECT * FROM pg_catalog.pg_authid",
        "information_schema": "SELECT table_name FROM information_schema.tables",
        "activity": "SELECT query FROM pg_stat_activity",
        "settings": "SELECT * FROM pg_settings",
        "not_in_the_index": "SELECT 1 FROM secrets",
        "another_schema": "SELECT 1 FROM public.orders",
        "another_database": "SELECT 1 FROM other.sales.orders",
        "quoted_capitals": 'SELECT 1 FROM "ORDERS"',
        "in_subquery": "SELECT id FROM orders WHERE id IN (SELECT usesysid FROM pg_user)",
        "in_exists": "SELECT 1 WHERE EXISTS (SELECT 1 FROM pg_class)",
        "in_union": "SELECT status FROM orders UNION SELECT usename FROM pg_user",
        "in_order": "SELECT id FROM orders ORDER BY (SELECT 1 FROM secrets)",
        "in_limit": "SELECT id FROM orders LIMIT (SELECT 1 FROM secrets)",
        "in_case": "SELECT CASE WHEN (SELECT 1 FROM secrets) = 1 THEN 1 END",
        "in_array": "SELECT ARRAY(SELECT id FROM secrets)",
        "in_values": "SELECT x FROM (VALUES ((SELECT max(id) FROM secrets))) AS v(x)",
        "in_unnest": "SELECT u FROM unnest(ARRAY(SELECT usename FROM pg_user)) AS u",
        "qualified_past_a_cte": "WITH secrets AS (SELECT 1 AS id) SELECT id FROM hidden.secrets",
        "before_the_cte_that_shadows_it": (
            "WITH a AS (SELECT x FROM secrets), secrets AS (SELECT 1 AS x) SELECT x FROM a"
        ),
        "outside_the_scope_of_the_cte": (
            "SELECT (WITH secrets AS (SELECT 1 AS x) SELECT x FROM secrets), x FROM secrets"
        ),
        "beside_a_cte": "WITH orders AS (SELECT 1 AS id) SELECT 1 FROM orders, secrets",
    },
    "unknown_column": {
        "not_in_the_index": "SELECT salary FROM employees",
        "not_in_the_index_qualified": "SELECT e.salary FROM employees AS e",
        "ctid": "SELECT ctid FROM orders",
        "xmin": "SELECT xmin FROM orders",
        "tableoid": "SELECT o.tableoid FROM orders AS o",
        "system_column_in_lateral": (
            "SELECT x.c FROM orders AS o CROSS JOIN LATERAL "
            "(SELECT ctid AS c FROM customers AS c WHERE c.id = o.customer_id) AS x"
        ),
        "unselected_column_of_lateral_under_a_star": (
            "SELECT * FROM orders AS o JOIN LATERAL "
            "(SELECT salary FROM employees AS e WHERE e.id = o.seller_id) AS x ON TRUE"
        ),
        "through_a_star_unqualified": "SELECT salary FROM (SELECT * FROM employees) AS e",
        "through_a_star_qualified": "SELECT e.salary FROM (SELECT * FROM employees) AS e",
        "through_the_star_of_a_cte": "WITH e AS (SELECT * FROM employees) SELECT e.salary FROM e",
        "in_where": "SELECT name FROM employees WHERE salary > 1",
        "in_order": "SELECT name FROM employees ORDER BY salary",
        "in_group": "SELECT count(*) FROM employees GROUP BY salary",
        "in_filter": "SELECT count(*) FILTER (WHERE salary > 1) FROM employees",
        "in_window": "SELECT rank() OVER (ORDER BY salary) FROM employees",
        "in_named_window": "SELECT rank() OVER w FROM employees WINDOW w AS (ORDER BY salary)",
        "in_using": "SELECT a.id FROM employees AS a JOIN employees AS b USING (salary)",
        "in_distinct_on": "SELECT DISTINCT ON (salary) name FROM employees",
        "in_exists": (
            "SELECT id FROM orders AS o WHERE EXISTS "
            "(SELECT 1 FROM employees AS e WHERE e.id = o.seller_id AND salary > 1)"
        ),
        "of_a_table_that_is_not_joined": "SELECT pg_shadow.usename FROM orders",
        "unicode_identifier": r'SELECT U&"\0073ecret" FROM orders',
    },
    "unparsable": {
        "precision_that_would_be_lost": "SELECT INTERVAL(0) '1.6 seconds'",
        "null_byte_before_the_second": "SELECT 1\0; DROP TABLE orders",
        "json_table": "SELECT * FROM json_table('[]', '$' COLUMNS (a int))",
        "xmltable": "SELECT * FROM xmltable('/a' PASSING '<a/>' COLUMNS x int)",
        "xmlelement": "SELECT xmlelement(name a, 1)",
        "ideographic_space": "SELECT id AS\u3000a FROM orders",
        "no_break_space": "SELECT\u00a0id FROM orders",
        "file_separator": "SELECT id FROM orders\x1cWHERE TRUE",
        "half_of_a_surrogate_pair": "SELECT conca\ud800t(1)",
        "no_sql": "Please drop all tables",
        "psql_command": r"\copy orders to '/tmp/orders'",
        "unclosed_quote": "SELECT 'a",
        "unclosed_comment": "SELECT 1 /* a",
        "null_byte_at_the_end": "SELECT 1\0",
        "null_byte_in_a_string": "SELECT '\0'",
        "null_byte_in_a_name": 'SELECT 1 AS "a\0"',
        "null_byte_as_space": "SELECT\0id FROM orders",
        "notify_with_payload": "NOTIFY channel, 'x'",
        "read_write_transaction": "START TRANSACTION READ WRITE",
        "delete_in_parentheses": "(DELETE FROM orders RETURNING id)",
        "delete_as_derived_table": "SELECT * FROM (DELETE FROM orders RETURNING id) AS x",
        "parentheses_2000_deep": f"SELECT {'(' * 2000}1{')' * 2000}",
        "negations_2000_deep": f"SELECT {'NOT ' * 2000}TRUE",
        "calls_2000_deep": f"SELECT {'abs(' * 2000}1{')' * 2000}",
    },
    "too_many_rows": {
        "generate_series": "SELECT generate_series(1, 1000000000)",
        "generate_series_as_table": "SELECT * FROM generate_series(1, 1000000000)",
    },
    "too_much_text": {
        "repeat": "SELECT repeat('x', 1000000000)",
        "lpad": "SELECT lpad('x', 1000000000)",
    },
    "too_long": {
        "long_string": f"SELECT '{'x' * 30_000}'",
        "long_list": f"SELECT id FROM orders WHERE id IN ({', '.join(['1'] * 10_000)})",
    },
}

# A field of a row: the one column, and by PostgreSQL's functional notation any function of one
# row-typed argument. No allowlist of columns or functions sees it.
ROW_FIELDS = {
    "field_of_a_row": "SELECT (e).salary FROM employees AS e",
    "function_of_a_row": "SELECT (o).row_to_json FROM orders AS o",
    "field_of_a_row_in_a_subquery": (
        "SELECT (s.x).salary FROM (SELECT e AS x FROM employees AS e) AS s"
    ),
}

# Deeper than PostgreSQL's grammar can hand its tree over, shallow enough for sqlglot.
DEEP = {
    "additions_60": f"SELECT 1{' + 1' * 60}",
    "additions_3000": f"SELECT 1{' + 1' * 3000}",
    "concatenations_60": "SELECT 'a'" + " || 'a'" * 60,
    "negations_60": f"SELECT {'NOT ' * 60}TRUE",
    "unions_400": f"SELECT id FROM orders{' UNION ALL SELECT id FROM orders' * 400}",
}


async def guard(sql: str) -> GuardedQuery | Violation:
    return await SqlGuard(FakeCatalogs(SHOP)).guard("shop", sql, Principal("tester"))


@pytest.mark.parametrize(
    ("code", "sql"),
    [
        pytest.param(code, sql, id=f"{code}-{title}")
        for code, attacks in ATTACKS.items()
        for title, sql in attacks.items()
    ],
)
async def test_an_attack_is_refused_for_its_own_reason(code: str, sql: str) -> None:
    verdict = await guard(sql)
    assert isinstance(verdict, Violation), verdict
    assert verdict.code == code, verdict.message


@pytest.mark.parametrize("sql", ROW_FIELDS.values(), ids=ROW_FIELDS)
async def test_a_field_of_a_row_is_refused(sql: str) -> None:
    assert isinstance(await guard(sql), Violation)


@pytest.mark.parametrize("sql", DEEP.values(), ids=DEEP)
async def test_what_is_too_deep_for_a_parser_is_a_violation_and_no_exception(sql: str) -> None:
    assert isinstance(await guard(sql), Violation)


@pytest.mark.parametrize("code", ["function_not_allowed", "type_not_allowed", "unknown_table"])
async def test_a_violation_names_what_offends(code: str) -> None:
    for sql in ATTACKS[code].values():
        verdict = await guard(sql)
        assert isinstance(verdict, Violation)
        assert verdict.fragment
        assert verdict.fragment in verdict.message


async def test_nothing_passes_when_the_catalog_is_unavailable() -> None:
    with pytest.raises(IndexUnavailable):
        await SqlGuard(FakeCatalogs()).guard("shop", "SELECT 1", Principal("tester"))


async def test_a_dropped_table_is_refused_once_the_catalog_is_new() -> None:
    catalogs = FakeCatalogs(SHOP)
    sql_guard = SqlGuard(catalogs)
    query = "SELECT id FROM orders"
    assert isinstance(await sql_guard.guard("shop", query, Principal("tester")), GuardedQuery)
    kept = tuple(table for table in SHOP.tables if table.name != "orders")
    catalogs.catalogs["shop"] = Catalog("shop", kept, search_path=SHOP.search_path)
    verdict = await sql_guard.guard("shop", query, Principal("tester"))
    assert isinstance(verdict, Violation)
    assert verdict.code == "unknown_table"


async def test_the_databases_are_kept_apart() -> None:
    other = Catalog("other", SHOP.tables[:1], search_path=SHOP.search_path)
    sql_guard = SqlGuard(FakeCatalogs(SHOP, other))
    query = "SELECT id FROM orders"
    mine = await sql_guard.guard("shop", query, Principal("tester"))
    theirs = await sql_guard.guard("other", query, Principal("tester"))
    assert isinstance(mine, GuardedQuery)
    assert mine.database == "shop"
    assert isinstance(theirs, Violation)
