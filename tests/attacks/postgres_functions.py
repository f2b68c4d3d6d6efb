"""PostgreSQL: functions that read files, run SQL, wait, lock, change or tell of the server."""

from __future__ import annotations

from tests.attacks.attack import (
    FOLDER,
    SECRET,
    Absent,
    Answers,
    Attack,
    Carries,
    Evidence,
    Fails,
    Lasts,
    Leaves,
    Shows,
    Writes,
    one_column,
    spread,
)

_GROUP = "functions"
_REFUSED = "function_not_allowed"


def _attack(
    name: str, sql: str, works: Evidence, refused_as: str = _REFUSED, *, in_transaction: bool = True
) -> Attack:
    return Attack("postgres", _GROUP, name, sql, works, refused_as, in_transaction=in_transaction)


_SECRET_FILE = f"{FOLDER}/secret.txt"
_ADVISORY = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"

ATTACKS: list[Attack] = [
    # -- files --
    *spread(
        _attack,
        {
            "pg_read_file": f"SELECT pg_read_file('{_SECRET_FILE}')",
            "pg_read_file_qualified": f"SELECT pg_catalog.pg_read_file('{_SECRET_FILE}')",
            "pg_read_file_quoted": f"SELECT \"pg_read_file\"('{_SECRET_FILE}')",
            "pg_read_file_as_table": f"SELECT * FROM pg_read_file('{_SECRET_FILE}')",
            "pg_read_file_lateral": (
                f"SELECT f.f FROM currencies AS c, LATERAL pg_read_file('{_SECRET_FILE}') AS f"
            ),
            "pg_read_binary_file": (
                f"SELECT convert_from(pg_read_binary_file('{_SECRET_FILE}'), 'UTF8')"
            ),
        },
        Carries(SECRET),
    ),
    *spread(
        _attack,
        {
            "pg_read_file_in_a_call": f"SELECT upper(pg_read_file('{_SECRET_FILE}'))",
            "pg_stat_file": f"SELECT count(*) FROM pg_stat_file('{_SECRET_FILE}')",
            "pg_ls_waldir": "SELECT count(*) FROM pg_ls_waldir()",
        },
        Answers(),
    ),
    _attack("pg_ls_dir", f"SELECT pg_ls_dir('{FOLDER}')", Carries("secret.txt")),
    _attack(
        "lo_import",
        f"SELECT lo_import('{_SECRET_FILE}', 4713)",
        Leaves("SELECT convert_from(lo_get(4713), 'UTF8')", ((f"{SECRET}\n",),)),
    ),
    _attack("lo_get", "SELECT convert_from(lo_get(4712), 'UTF8')", Carries("a large object")),
    _attack(
        "lo_export", f"SELECT lo_export(4712, '{FOLDER}/exported.txt')", Writes("exported.txt")
    ),
    _attack(
        "lo_unlink",
        "SELECT lo_unlink(4712)",
        Leaves("SELECT count(*) FROM pg_largeobject_metadata", ((0,),)),
    ),
    _attack(
        "lo_put",
        "SELECT lo_put(4712, 0, 'changed')",
        Leaves("SELECT convert_from(lo_get(4712, 0, 7), 'UTF8')", (("changed",),)),
    ),
    # -- SQL inside text --
    *spread(
        _attack,
        {
            "query_to_xml": (
                "SELECT query_to_xml('SELECT note FROM main.payroll', true, true, '')::text"
            ),
            "table_to_xml": "SELECT table_to_xml('main.payroll', true, true, '')::text",
            "schema_to_xml": "SELECT schema_to_xml('main', true, true, '')::text",
        },
        Absent("libxml"),
    ),
    _attack(
        "ts_stat",
        "SELECT word FROM ts_stat('SELECT to_tsvector(''simple'', name) FROM main.employees')",
        Carries("dora"),
        "unknown_column",
    ),
    _attack(
        "ts_rewrite",
        "SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, name::tsquery FROM "
        "main.employees WHERE id = 4')::text",
        Carries("Dora"),
    ),
    _attack(
        "dblink",
        "SELECT note FROM dblink('dbname=scratch', 'SELECT note FROM main.payroll') "
        "AS t (note text)",
        Absent("dblink"),
        "node_not_allowed",
    ),
    _attack("dblink_exec", "SELECT dblink_exec('DROP TABLE main.shipments')", Absent("dblink")),
    # -- code of the database --
    *spread(
        _attack,
        {
            "security_definer": "SELECT total_pay()",
            "security_definer_under_its_schema": "SELECT main.total_pay()",
            "security_definer_as_table": "SELECT t FROM total_pay() AS t",
        },
        Shows(((39970,),)),
    ),
    _attack(
        "function_of_a_row", "SELECT pay_of(e) FROM employees AS e WHERE id = 4", Shows(((7770,),))
    ),
    _attack(
        "operator_of_a_schema",
        "SELECT 1 OPERATOR(main.~~~~) 2 AS n",
        Shows(((3,),)),
        "unparsable",
    ),
    # -- time and locks --
    *spread(
        _attack,
        {
            "pg_sleep_in_where": "SELECT id FROM departments WHERE pg_sleep(0.02) IS NULL",
            "pg_sleep_in_order_by": "SELECT id FROM departments ORDER BY pg_sleep(0.02)::text",
            "pg_sleep_in_a_window": (
                "SELECT sum(id) OVER (ORDER BY pg_sleep(0.02)::text) FROM departments"
            ),
            "pg_sleep_for_those_who_earn_much": (
                "SELECT CASE WHEN salary > 9000 THEN pg_sleep(0.05) END FROM employees"
            ),
            "pg_sleep_for": "SELECT pg_sleep_for('50 milliseconds')",
        },
        Lasts(50),
    ),
    *spread(
        _attack,
        {
            "pg_advisory_lock": "SELECT pg_advisory_lock(1)",
            "pg_advisory_xact_lock": "SELECT pg_advisory_xact_lock(1)",
            "pg_try_advisory_lock_shared": "SELECT pg_try_advisory_lock_shared(1)",
        },
        Leaves(_ADVISORY, ((1,),)),
    ),
    # -- settings, sessions, state --
    _attack(
        "set_config",
        "SELECT set_config('statement_timeout', '0', false)",
        Leaves("SHOW statement_timeout", (("0",),)),
    ),
    _attack(
        "set_config_of_the_role",
        "SELECT set_config('role', 'quorumsql_indexer', false)",
        Leaves("SELECT current_user::text", (("quorumsql_indexer",),)),
    ),
    _attack("current_setting", "SELECT current_setting('data_directory')", Carries("postgres")),
    _attack(
        "pg_terminate_backend", "SELECT pg_terminate_backend(pg_backend_pid())", Fails("57P01")
    ),
    _attack(
        "pg_cancel_backend",
        "SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(1)",
        Fails("user request"),
    ),
    _attack("pg_reload_conf", "SELECT pg_reload_conf()", Shows(((True,),))),
    *spread(
        _attack,
        {
            "pg_switch_wal": "SELECT pg_switch_wal()::text",
            "pg_notify": "SELECT pg_notify('tap', 'x')",
            "pg_export_snapshot": "SELECT pg_export_snapshot()",
            "pg_logical_emit_message": "SELECT pg_logical_emit_message(false, 'x', 'y')::text",
            "pg_stat_reset": "SELECT pg_stat_reset()",
        },
        Answers(),
    ),
    # a sequence is not rolled back
    _attack(
        "nextval", "SELECT nextval('main.order_number')", Shows(((4711,),)), in_transaction=False
    ),
    _attack(
        "setval",
        "SELECT setval('main.order_number', 1)",
        Leaves("SELECT last_value FROM main.order_number", ((1,),)),
        in_transaction=False,
    ),
    # -- what the server tells of itself --
    *spread(
        _attack,
        {"current_user": "SELECT CURRENT_USER::text", "session_user": "SELECT SESSION_USER::text"},
        Shows((("postgres",),)),
    ),
    _attack("current_database", "SELECT current_database()::text", Shows((("scratch",),))),
    *spread(
        _attack,
        {
            "pg_backend_pid": "SELECT pg_backend_pid()",
            "pg_postmaster_start_time": "SELECT pg_postmaster_start_time()::text",
        },
        Answers(),
    ),
    _attack("table_exists", "SELECT to_regclass('main.payroll')::text", Shows((("payroll",),))),
    _attack(
        "table_exists_by_cast",
        "SELECT 'main.payroll'::regclass::text",
        Shows((("payroll",),)),
        "type_not_allowed",
    ),
    _attack("table_size", "SELECT pg_relation_size('main.payroll')", Shows(((8192,),))),
    _attack("view_definition", "SELECT pg_get_viewdef('main.pay_snapshot')", Carries("salary")),
    _attack(
        "function_definition",
        "SELECT pg_get_functiondef('main.total_pay'::regproc)",
        Carries("SECURITY DEFINER"),
    ),
    _attack(
        "privilege",
        "SELECT has_table_privilege('quorumsql_reader', 'main.payroll', 'SELECT')",
        Shows(((True,),)),
    ),
    _attack(
        "comment_of_a_table",
        "SELECT obj_description('main.payroll'::regclass, 'pg_class')",
        Shows(one_column("pays everybody")),
    ),
]
