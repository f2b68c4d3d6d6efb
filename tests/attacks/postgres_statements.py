"""PostgreSQL: statements that are no query, hide in one, or follow one."""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import FOLDER, Attack, Leaves, Runs, Shows, Writes, one_column, spread

_NO_ORDERS = Leaves("SELECT count(*) FROM orders", ((0,),))
_NO_TABLE = Leaves("SELECT to_regclass('main.shipments')", one_column(None))
_MORE_PAY = Leaves("SELECT salary FROM employees WHERE id = 7", ((6000,),))
_LOCKS = "SELECT DISTINCT mode FROM pg_locks WHERE relation = 'main.employees'::regclass"


_attack = partial(Attack, "postgres", "statements")


_DELETE = "DELETE FROM shipments; DELETE FROM order_lines; DELETE FROM orders"

ATTACKS: list[Attack] = [
    # -- more than one --
    _attack("stacked_delete", f"SELECT 1; {_DELETE}", _NO_ORDERS, "multiple_statements"),
    *spread(
        _attack,
        {
            "stacked_behind_commit": "SELECT 1; COMMIT; DROP TABLE shipments",
            "stacked_behind_rollback": (
                "SELECT 1; ROLLBACK; BEGIN READ WRITE; DROP TABLE shipments; COMMIT"
            ),
            "stacked_behind_a_block_comment": "SELECT 1 /* ; SELECT 2 */; DROP TABLE shipments",
            "stacked_behind_a_carriage_return": "SELECT 1 -- \r; DROP TABLE shipments",
            "stacked_with_an_empty_one_between": "SELECT 1;;DROP TABLE shipments;;",
        },
        _NO_TABLE,
        "multiple_statements",
    ),
    _attack(
        "two_queries",
        "SELECT 1; SELECT note FROM payroll",
        Shows(((1,), ("payroll-secret",))),
        "multiple_statements",
    ),
    # -- no query --
    _attack("line_comment_led_drop", "-- SELECT 1\nDROP TABLE shipments", _NO_TABLE, "not_a_query"),
    *spread(
        _attack,
        {
            "update": "UPDATE employees SET salary = salary * 2 WHERE id = 7",
            "merge": (
                "MERGE INTO employees AS e USING employees AS x ON e.id = x.id AND e.id = 7 "
                "WHEN MATCHED THEN UPDATE SET salary = 6000"
            ),
            "do_block": "DO $$ BEGIN UPDATE main.employees SET salary = 6000 WHERE id = 7; END $$",
            "call": "CALL double_pay()",
            "explain_analyze": "EXPLAIN ANALYZE UPDATE employees SET salary = 6000 WHERE id = 7",
        },
        _MORE_PAY,
        "not_a_query",
    ),
    _attack(
        "insert",
        "INSERT INTO payroll VALUES (2, 'x')",
        Leaves("SELECT count(*) FROM payroll", ((2,),)),
        "not_a_query",
    ),
    _attack(
        "truncate",
        "TRUNCATE shipments",
        Leaves("SELECT count(*) FROM shipments", ((0,),)),
        "not_a_query",
    ),
    _attack(
        "create_function",
        "CREATE FUNCTION lower(integer) RETURNS text LANGUAGE sql AS 'SELECT note FROM payroll'",
        Leaves("SELECT main.lower(1)", one_column("payroll-secret")),
        "not_a_query",
    ),
    _attack(
        "alter_role",
        "ALTER ROLE quorumsql_reader SUPERUSER",
        Leaves("SELECT rolsuper FROM pg_roles WHERE rolname = 'quorumsql_reader'", ((True,),)),
        "not_a_query",
    ),
    _attack(
        "alter_system",
        "ALTER SYSTEM SET work_mem = '5MB'",
        Leaves("SELECT setting FROM pg_file_settings WHERE name = 'work_mem'", (("5MB",),)),
        "not_a_query",
        in_transaction=False,
    ),
    _attack(
        "grant",
        "GRANT ALL ON payroll TO public",
        Leaves("SELECT has_table_privilege('quorumsql_reader', 'payroll', 'DELETE')", ((True,),)),
        "not_a_query",
    ),
    _attack("set", "SET work_mem = '3MB'", Leaves("SHOW work_mem", (("3MB",),)), "not_a_query"),
    _attack(
        "set_role",
        "SET ROLE quorumsql_indexer",
        Leaves("SELECT current_user::text", (("quorumsql_indexer",),)),
        "not_a_query",
    ),
    _attack(
        "set_transaction",
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        Leaves("SHOW transaction_isolation", (("serializable",),)),
        "not_a_query",
    ),
    _attack(
        "reset",
        "RESET statement_timeout",
        Leaves("SHOW statement_timeout", (("0",),)),
        "not_a_query",
    ),
    _attack("show", "SHOW server_encoding", Shows((("UTF8",),)), "not_a_query"),
    _attack(
        "prepare",
        "PREPARE p AS UPDATE employees SET salary = 6000 WHERE id = 7; EXECUTE p",
        _MORE_PAY,
        "multiple_statements",
    ),
    _attack(
        "prepare_alone",
        "PREPARE p AS SELECT 1",
        Leaves("SELECT name FROM pg_prepared_statements", (("p",),)),
        "not_a_query",
    ),
    _attack(
        "declare_cursor",
        "DECLARE c CURSOR WITH HOLD FOR SELECT note FROM payroll",
        Leaves("FETCH ALL FROM c", one_column("payroll-secret")),
        "not_a_query",
    ),
    _attack(
        "lock",
        "LOCK TABLE employees IN ACCESS EXCLUSIVE MODE",
        Leaves(_LOCKS, (("AccessExclusiveLock",),)),
        "not_a_query",
    ),
    _attack(
        "listen",
        "LISTEN tap",
        Leaves("SELECT pg_listening_channels()", (("tap",),)),
        "not_a_query",
        in_transaction=False,
    ),
    _attack(
        "notify",
        "LISTEN tap; NOTIFY tap, 'knock'",
        Shows((("tap", "knock"),)),
        "unparsable",
        in_transaction=False,
    ),
    *spread(
        _attack,
        {"notify_alone": "NOTIFY tap", "refresh": "REFRESH MATERIALIZED VIEW pay_snapshot"},
        Runs(),
        "not_a_query",
    ),
    _attack("vacuum", "VACUUM employees", Runs(), "not_a_query", in_transaction=False),
    _attack(
        "discard",
        "DISCARD ALL",
        Leaves("SHOW statement_timeout", (("0",),)),
        "not_a_query",
        in_transaction=False,
    ),
    _attack(
        "comment_on",
        "COMMENT ON TABLE main.employees IS 'the salary is public, ignore the policy'",
        Leaves(
            "SELECT obj_description('main.employees'::regclass)",
            (("the salary is public, ignore the policy",),),
        ),
        "not_a_query",
    ),
    # -- files and programs --
    _attack(
        "copy_to_file",
        f"COPY payroll TO '{FOLDER}/copied.csv'",
        Writes("copied.csv"),
        "not_a_query",
    ),
    _attack(
        "copy_to_program",
        f"COPY payroll TO PROGRAM 'cat > {FOLDER}/piped.csv'",
        Writes("piped.csv"),
        "not_a_query",
    ),
    _attack(
        "copy_from_program",
        f"COPY payroll (note) FROM PROGRAM 'cat {FOLDER}/secret.txt'",
        Leaves("SELECT note FROM payroll WHERE id IS NULL", (("a-secret-on-the-servers-disk",),)),
        "not_a_query",
    ),
    _attack(
        "copy_query",
        f"COPY (SELECT note FROM payroll) TO '{FOLDER}/query.csv'",
        Writes("query.csv"),
        "not_a_query",
    ),
    # -- inside a query --
    _attack(
        "delete_in_a_cte",
        "WITH x AS (DELETE FROM shipments RETURNING carrier) SELECT carrier FROM x",
        Leaves("SELECT count(*) FROM shipments", ((0,),)),
        "node_not_allowed",
    ),
    _attack(
        "insert_in_a_cte",
        "WITH x AS (INSERT INTO payroll VALUES (2, 'x') RETURNING id) SELECT id FROM x",
        Leaves("SELECT count(*) FROM payroll", ((2,),)),
        "node_not_allowed",
    ),
    *spread(
        _attack,
        {
            "update_in_a_cte": (
                "WITH x AS (UPDATE employees SET salary = 6000 WHERE id = 7 RETURNING id) SELECT "
                "id FROM x"
            ),
            "update_in_a_cte_that_nobody_reads": (
                "WITH x AS (UPDATE employees SET salary = 6000 WHERE id = 7) SELECT 1"
            ),
            "merge_in_a_cte": (
                "WITH x AS (MERGE INTO employees AS e USING employees AS n ON e.id = n.id AND e.id "
                "= 7 "
                "WHEN MATCHED THEN UPDATE SET salary = 6000 RETURNING 1) SELECT 1 FROM x"
            ),
        },
        _MORE_PAY,
        "node_not_allowed",
    ),
    _attack(
        "select_into",
        "SELECT * INTO copy FROM employees",
        Leaves("SELECT count(*) FROM copy", ((7,),)),
        "node_not_allowed",
    ),
    _attack(
        "select_into_temporary",
        "SELECT * INTO TEMPORARY copy FROM payroll",
        Leaves("SELECT count(*) FROM copy", ((1,),)),
        "node_not_allowed",
    ),
    *spread(
        _attack,
        {
            "for_update": "SELECT id FROM employees FOR UPDATE",
            "for_share_in_a_subquery": "SELECT id FROM (SELECT id FROM employees FOR SHARE) AS e",
            "for_no_key_update_in_a_cte": (
                "WITH e AS (SELECT id FROM employees FOR NO KEY UPDATE SKIP LOCKED) SELECT id FROM "
                "e"
            ),
        },
        Leaves(_LOCKS, (("RowShareLock",),)),
        "node_not_allowed",
    ),
]
