"""Statements, functions and bombs that more than one engine takes, word for word."""

from __future__ import annotations

from tests.attacks.attack import Answers, Attack, Carries, Endless, Lasts, Leaves, Runs, Shows
from tests.attacks.everywhere import same, share

_NO_SHIPMENTS = Leaves("SELECT count(*) FROM shipments", ((0,),))
_NO_TABLE = {
    "postgres": Leaves("SELECT to_regclass('main.shipments')", ((None,),)),
    "sqlite": Leaves("SELECT count(*) FROM sqlite_master WHERE name = 'shipments'", ((0,),)),
    "duckdb": Leaves(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'shipments'", ((0,),)
    ),
}
_NO_TABLE_IN_FILES = {engine: _NO_TABLE[engine] for engine in ("sqlite", "duckdb")}
_MORE_PAY = Leaves("SELECT salary FROM employees WHERE id = 7", ((6000,),))

ATTACKS: list[Attack] = [
    *share(
        "statements",
        "stacked_behind_a_line_comment",
        "SELECT 1 -- one query\n; DROP TABLE shipments",
        _NO_TABLE,
        refused_as="multiple_statements",
    ),
    *share(
        "statements",
        "stacked_behind_a_backslash",
        r"SELECT name FROM employees WHERE name = '\'; DROP TABLE shipments; --'",
        _NO_TABLE,
        refused_as="multiple_statements",
    ),
    *share(
        "statements",
        "comment_led_drop",
        "/* SELECT */ DROP TABLE shipments",
        _NO_TABLE,
        refused_as="not_a_query",
    ),
    *share(
        "statements",
        "delete",
        "DELETE FROM shipments",
        same(_NO_SHIPMENTS),
        refused_as="not_a_query",
    ),
    *share(
        "statements",
        "delete_behind_a_cte",
        ("WITH x AS (SELECT 1000 AS id) DELETE FROM shipments WHERE id >= (SELECT id FROM x)"),
        same(_NO_SHIPMENTS),
        refused_as="not_a_query",
    ),
    *share("statements", "drop", "DROP TABLE shipments", _NO_TABLE, refused_as="not_a_query"),
    *share(
        "statements",
        "create_table_as",
        "CREATE TABLE copy AS SELECT * FROM employees",
        same(Leaves("SELECT count(*) FROM copy", ((7,),)), "postgres", "sqlite"),
        refused_as="not_a_query",
    ),
    *share(
        "statements",
        "checkpoint",
        "CHECKPOINT",
        same(Runs(), "postgres", "duckdb"),
        refused_as="not_a_query",
    ),
    *share(
        "statements",
        "values",
        "VALUES ((SELECT note FROM payroll))",
        same(Shows((("payroll-secret",),))),
        refused_as="not_permitted",
    ),
    *share(
        "statements",
        "table",
        "TABLE payroll",
        same(Shows(((1, "payroll-secret"),)), "postgres", "duckdb"),
        refused_as="not_permitted",
    ),
    *share(
        "functions",
        "pg_sleep",
        "SELECT pg_sleep(0.05)",
        same(Lasts(50), "postgres", "duckdb"),
        refused_as="function_not_allowed",
    ),
    *share(
        "functions",
        "txid_current",
        "SELECT txid_current() > 0",
        {"postgres": Shows(((True,),)), "duckdb": Answers()},
        refused_as="function_not_allowed",
    ),
    *share(
        "functions",
        "version",
        "SELECT version()",
        {"postgres": Carries("PostgreSQL"), "duckdb": Answers()},
        refused_as="function_not_allowed",
    ),
    *share(
        "functions",
        "current_query",
        "SELECT current_query()",
        same(Carries("current_query"), "postgres", "duckdb"),
        refused_as="function_not_allowed",
    ),
    *share(
        "catalogs",
        "other_database",
        "SELECT note FROM scratch.main.payroll",
        {"postgres": Carries("payroll-secret"), "duckdb": Shows((("payroll-secret",),))},
        refused_as="unknown_table",
    ),
    *share(
        "bombs",
        "repeat",
        "SELECT length(repeat('x', 5000000))",
        same(Shows(((5000000,),)), "postgres", "duckdb"),
        refused_as="too_much_text",
    ),
    *share(
        "bombs",
        "recursion_that_doubles",
        (
            "WITH RECURSIVE n AS (SELECT 'x' AS t UNION ALL SELECT t || t FROM n WHERE "
            "length(t) < 3000000) SELECT max(length(t)) AS n FROM n"
        ),
        same(Shows(((4194304,),))),
        refused_as="endless_recursion",
    ),
    *share(
        "bombs",
        "recursion_over_a_table",
        (
            "WITH RECURSIVE n AS (SELECT id FROM employees UNION ALL SELECT e.id FROM "
            "employees AS e, n) SELECT count(*) FROM n"
        ),
        same(Endless(), "postgres", "sqlite"),
        refused_as="endless_recursion",
    ),
    *share(
        "bombs",
        "doubled_while_counting",
        (
            "WITH RECURSIVE n AS (SELECT 1 AS i, 'x' AS t UNION ALL SELECT i + 1, t || t "
            "FROM n WHERE i < 23) SELECT max(length(t)) AS n FROM n"
        ),
        same(Shows(((4194304,),)), "postgres", "sqlite"),
        refused_as="too_much_text",
    ),
    *share(
        "statements",
        "stacked_delete",
        "SELECT 1; DELETE FROM shipments",
        same(_NO_SHIPMENTS, "sqlite", "duckdb"),
        refused_as="multiple_statements",
    ),
    *share(
        "statements",
        "stacked_behind_commit",
        "BEGIN; COMMIT; DROP TABLE shipments",
        _NO_TABLE_IN_FILES,
        refused_as="multiple_statements",
    ),
    *share(
        "statements",
        "update",
        "UPDATE employees SET salary = 6000 WHERE id = 7",
        same(_MORE_PAY, "sqlite", "duckdb"),
        refused_as="not_a_query",
    ),
    *share(
        "statements",
        "alter",
        "ALTER TABLE shipments RENAME TO gone",
        _NO_TABLE_IN_FILES,
        refused_as="not_a_query",
    ),
    *share(
        "bombs",
        "recursion_without_end",
        (
            "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT "
            "count(*) FROM n"
        ),
        same(Endless(), "sqlite", "duckdb"),
        refused_as="endless_recursion",
    ),
]
