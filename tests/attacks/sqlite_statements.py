"""SQLite: statements that are no query, functions that reach out, bombs."""

from __future__ import annotations

from tests.attacks.attack import (
    FOLDER,
    SECRET,
    Absent,
    Answers,
    Attack,
    Carries,
    Endless,
    Evidence,
    Lasts,
    Leaves,
    Runs,
    Shows,
    Writes,
    one_column,
    spread,
)
from tests.attacks.everywhere import build_levels

_NO_SHIPMENTS = Leaves("SELECT count(*) FROM shipments", ((0,),))
_NO_TABLE = Leaves("SELECT count(*) FROM sqlite_master WHERE name = 'shipments'", ((0,),))
_MORE_PAY = Leaves("SELECT salary FROM employees WHERE id = 7", ((6000,),))
_MANY = 5_000_000
_SIXTEEN = ", ".join(f"employees AS e{number}" for number in range(16))


def _statement(name: str, sql: str, works: Evidence, refused_as: str = "not_a_query") -> Attack:
    return Attack("sqlite", "statements", name, sql, works, refused_as)


def _function(
    name: str, sql: str, works: Evidence, refused_as: str = "function_not_allowed"
) -> Attack:
    return Attack("sqlite", "functions", name, sql, works, refused_as)


def _bomb(name: str, sql: str, works: Evidence, refused_as: str) -> Attack:
    return Attack("sqlite", "bombs", name, sql, works, refused_as)


ATTACKS: list[Attack] = [
    _statement(
        "stacked_behind_a_comment_that_does_not_nest",
        "SELECT 1 /* /* */; DROP TABLE shipments -- */",
        _NO_TABLE,
        "multiple_statements",
    ),
    _statement("delete_returning", "DELETE FROM shipments RETURNING carrier", _NO_SHIPMENTS),
    _statement(
        "upsert",
        "INSERT INTO employees (id) VALUES (7) ON CONFLICT (id) DO UPDATE SET salary = 6000",
        _MORE_PAY,
    ),
    _statement(
        "replace",
        "REPLACE INTO shipments VALUES (1000, 100, 'mine')",
        Leaves("SELECT carrier FROM shipments WHERE id = 1000", one_column("mine")),
    ),
    _statement(
        "create_temporary_view",
        "CREATE TEMP VIEW departments AS SELECT * FROM payroll",
        Leaves("SELECT note FROM departments", one_column("payroll-secret")),
    ),
    _statement(
        "create_trigger",
        "CREATE TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM shipments; END",
        Leaves("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'", ((1,),)),
        "multiple_statements",
    ),
    _statement(
        "attach",
        f"ATTACH '{FOLDER}/attached.sqlite' AS other; CREATE TABLE other.t (a)",
        Writes("attached.sqlite"),
        "multiple_statements",
    ),
    _statement(
        "attach_alone",
        f"ATTACH '{FOLDER}/pristine.sqlite' AS other",
        Leaves("SELECT note FROM other.payroll", one_column("payroll-secret")),
    ),
    _statement("vacuum_into", f"VACUUM INTO '{FOLDER}/stolen.sqlite'", Writes("stolen.sqlite")),
    *spread(
        _statement, {"vacuum": "VACUUM", "savepoint": "SAVEPOINT s", "reindex": "REINDEX"}, Runs()
    ),
    _statement("pragma", "PRAGMA user_version = 7", Leaves("PRAGMA user_version", ((7,),))),
    _statement(
        "pragma_writable_schema",
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = 'shipments'",
        Leaves("SELECT count(*) FROM sqlite_master WHERE name = 'shipments'", ((0,),)),
        "multiple_statements",
    ),
    *spread(
        _statement,
        {
            "pragma_table_list": "PRAGMA table_list",
            "explain_query_plan": "EXPLAIN QUERY PLAN SELECT * FROM payroll",
        },
        Carries("payroll"),
    ),
    _statement(
        "begin_exclusive", "BEGIN EXCLUSIVE", Leaves("SELECT count(*) FROM payroll", ((1,),))
    ),
    _statement("explain", "EXPLAIN SELECT note FROM payroll", Answers()),
    _statement("analyze", "ANALYZE", Leaves("SELECT count(*) > 0 FROM sqlite_stat1", ((1,),))),
    # -- functions --
    _function("readfile", f"SELECT readfile('{FOLDER}/secret.txt')", Carries(SECRET)),
    _function(
        "writefile",
        f"SELECT writefile('{FOLDER}/w.txt', 'x')",
        Absent("no such function: writefile"),
    ),
    _function("load_extension", "SELECT load_extension('evil')", Absent("not authorized")),
    _function("edit", "SELECT edit('x', 'vi')", Absent("no such function: edit")),
    *spread(
        _function,
        {
            "fts3_tokenizer": "SELECT fts3_tokenizer('simple')",
            "sqlite_version": "SELECT sqlite_version()",
            "sqlite_source_id": "SELECT sqlite_source_id()",
            "sqlite_compileoption_get": "SELECT sqlite_compileoption_get(0)",
        },
        Answers(),
    ),
    _function("randomblob", "SELECT length(randomblob(8))", Shows(((8,),))),
    *spread(
        _function,
        {
            "last_insert_rowid": "SELECT last_insert_rowid()",
            "total_changes": "SELECT total_changes()",
        },
        Shows(((0,),)),
    ),
    _function(
        "table_info",
        "SELECT name FROM pragma_table_info('employees')",
        Carries("badge"),
        "unknown_column",
    ),
    _function(
        "database_list",
        "SELECT file FROM pragma_database_list",
        Carries("scratch.sqlite"),
        "unknown_table",
    ),
    _function(
        "table_list_in_a_subquery",
        "SELECT code FROM currencies WHERE EXISTS (SELECT 1 FROM pragma_table_list "
        "WHERE name = 'payroll')",
        Shows(one_column("EUR", "USD")),
        "unknown_table",
    ),
    _function(
        "json_each",
        "SELECT value FROM json_each((SELECT json_group_array(note) FROM payroll))",
        Shows(one_column("payroll-secret")),
        "not_permitted",
    ),
    # -- bombs --
    *spread(
        _bomb,
        {
            "zeroblob": f"SELECT length(zeroblob({_MANY})) AS n",
            "randomblob": f"SELECT length(randomblob({_MANY})) AS n",
        },
        Shows(((_MANY,),)),
        "function_not_allowed",
    ),
    *spread(
        _bomb,
        {
            "printf_width": f"SELECT length(printf('%{_MANY}d', 1)) AS n",
            "format_width": f"SELECT length(format('%{_MANY}d', 1)) AS n",
        },
        Shows(((_MANY,),)),
        "too_much_text",
    ),
    _bomb(
        "replace_of_a_replace",
        "SELECT length(replace(replace(replace(replace('xxxxxxxxxx', 'x', "
        f"'{'y' * 60}'), 'y', '{'z' * 60}'), 'z', '{'x' * 60}'), 'x', 'yy')) AS n",
        Shows(((4_320_000,),)),
        "too_much_text",
    ),
    _bomb(
        "hex_of_hex",
        "SELECT length(hex(hex(hex(hex(hex(hex(hex(hex(hex(zeroblob(10000))))))))))) AS n",
        Shows(((5_120_000,),)),
        "function_not_allowed",
    ),
    _bomb(
        "expression_that_grows_when_inlined",
        build_levels("'x' || name", "t || t || t || t", 7, source=" FROM employees", limit=""),
        Lasts(15),
        "too_much_text",
    ),
    *spread(
        _bomb,
        {
            "cartesian_product": f"SELECT count(*) FROM {_SIXTEEN}",
            "cartesian_product_in_a_subquery": (
                f"SELECT code FROM currencies WHERE rate > (SELECT count(*) FROM {_SIXTEEN})"
            ),
            "cartesian_product_that_sorts": (
                f"SELECT e1.name FROM {_SIXTEEN} ORDER BY e1.name || e2.name"
            ),
        },
        Endless(),
        "57014",
    ),
]
