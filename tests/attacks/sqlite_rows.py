"""SQLite: what only it has for reading a row past its policy, and errors that betray one."""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import (
    Attack,
    Carries,
    Fails,
    Row,
    Shows,
    build_attack,
    one_column,
    spread,
)
from tests.attacks.scratch import EVERYBODY, OURS

_attack = partial(build_attack, "sqlite", "rows")


def _error(
    name: str, sql: str, text: str, yields: tuple[Row, ...], role: str = "manager"
) -> Attack:
    return build_attack("sqlite", "errors", name, sql, Fails(text), yields, role=role)


_OVERFLOW = "abs(-9223372036854775807 - (salary = 7770))"

ATTACKS: list[Attack] = [
    # -- the schema's own tables --
    *spread(
        _attack,
        {
            "sqlite_schema": "SELECT name FROM main.sqlite_schema",
            "sqlite_master_in_a_union": (
                "SELECT code FROM currencies UNION SELECT name FROM sqlite_master"
            ),
            "sqlite_master_in_brackets": "SELECT name FROM [sqlite_master]",
            "sqlite_master_in_capitals": "SELECT name FROM SQLITE_MASTER",
        },
        Carries("payroll"),
        refused_as="unknown_table",
    ),
    # -- columns that every table has --
    _attack(
        "rowid_of_a_row_by_its_other_names",
        "SELECT _rowid_, oid FROM tickets",
        Shows(((1, 1), (2, 2))),
        refused_as="unknown_column",
    ),
    _attack(
        "rowid_in_where",
        "SELECT topic FROM tickets WHERE rowid = 2",
        Shows(one_column("theirs")),
        refused_as="unknown_column",
    ),
    # -- spellings --
    *spread(
        _attack,
        {
            "brackets": "SELECT [name] FROM [employees]",
            "backticks": "SELECT `name` FROM `employees`",
            "string_as_a_table": "SELECT name FROM 'employees'",
            "indexed_by": "SELECT name FROM employees NOT INDEXED",
        },
        Shows(EVERYBODY),
        OURS,
    ),
    _attack(
        "mixed_case_of_a_quoted_name",
        'SELECT "SECRET word" FROM "ODD TABLE"',
        Shows(one_column("ours", "theirs")),
        one_column("ours"),
    ),
    _attack(
        "double_quoted_string_that_becomes_a_column",
        'SELECT name FROM employees WHERE "salary" > 6000',
        Shows(one_column("Dora", "Emil", "Fay")),
        (),
    ),
    _attack(
        "hidden_column_in_brackets",
        "SELECT [badge] FROM employees WHERE id = 1",
        Shows(one_column("badge-1")),
        refused_as="not_permitted",
        role="member",
    ),
    *spread(
        _attack,
        {
            "byte_order_mark": "\ufeffSELECT note FROM payroll",
            "byte_order_mark_for_a_space": 'SELECT note FROM "payroll"\ufeffWHERE id = 1',
            "comment_without_an_end": "SELECT note FROM payroll /* and so on",
        },
        Shows(one_column("payroll-secret")),
        refused_as="unparsable",
    ),
    _attack(
        "comment_that_does_not_nest",
        "SELECT name /* /* */ FROM employees WHERE department_id = 2 -- */ FROM departments",
        Shows(one_column("Dora", "Emil")),
        (),
    ),
    _attack(
        "parentheses_around_a_table",
        "SELECT name FROM ((employees))",
        Shows(EVERYBODY),
        refused_as="node_not_allowed",
    ),
    _attack(
        "column_of_no_group",
        "SELECT name, max(salary) AS n FROM employees",
        Shows((("Fay", 9900),)),
        (("Ada", 5100),),
    ),
    _attack(
        "in_a_table",
        "SELECT 'yes' AS answer WHERE 'payroll-secret' IN (SELECT note FROM payroll)",
        Shows(one_column("yes")),
        refused_as="not_permitted",
    ),
    *spread(
        _attack,
        {
            "in_the_bare_table": "SELECT 'yes' AS answer WHERE (1, 'payroll-secret') IN payroll",
            "in_the_bare_filtered_table": (
                "SELECT 'yes' AS answer WHERE ('USD', 2) IN currencies AND "
                "(1000, 100, 'post') IN shipments AND (1002, 103, 'drone') IN shipments"
            ),
        },
        Shows(one_column("yes")),
        refused_as="unknown_column",
    ),
    _attack(
        "in_a_table_that_looks_like_a_column",
        "SELECT 'yes' AS answer FROM (SELECT 1 AS shipments) AS main "
        "WHERE (1002, 103, 'drone') IN main.shipments",
        Shows(one_column("yes")),
        refused_as="node_not_allowed",
    ),
    _attack(
        "cte_that_sees_those_after_it",
        "WITH a AS (SELECT name FROM b), b AS (SELECT name FROM employees) SELECT name FROM a",
        Shows(EVERYBODY),
        refused_as="unexplained_table",
    ),
    _attack(
        "hidden_table_behind_a_later_cte_elsewhere",
        "SELECT note FROM payroll WHERE id IN "
        "(WITH payroll AS (SELECT 1 AS id) SELECT id FROM payroll)",
        Shows(one_column("payroll-secret")),
        refused_as="not_permitted",
    ),
    _attack(
        "group_concat",
        "SELECT group_concat(name) AS n FROM (SELECT name FROM employees ORDER BY id)",
        Carries("Dora"),
        one_column("Ada,Ben,Cleo"),
    ),
    # -- errors --
    *spread(
        _error,
        {
            "overflow_for_one_salary": f"SELECT name FROM employees WHERE {_OVERFLOW} > 0",
            "overflow_in_order_by": f"SELECT name FROM employees ORDER BY {_OVERFLOW}, name",
            "overflow_in_a_join": (
                "SELECT e.name FROM currencies AS c JOIN employees AS e ON c.code = 'EUR' AND "
                f"{_OVERFLOW} > 0"
            ),
            "overflow_in_a_view": (
                "SELECT name FROM directory WHERE "
                "abs(-9223372036854775807 - (department_id = 2)) IS NOT NULL"
            ),
        },
        "integer overflow",
        OURS,
    ),
    _error(
        "overflow_in_the_select_list",
        f"SELECT {_OVERFLOW} > 0 AS n FROM employees",
        "integer overflow",
        one_column(1, 1, 1),
    ),
    _error(
        "overflow_in_a_correlated_subquery",
        "SELECT code FROM currencies AS c WHERE NOT EXISTS (SELECT 1 FROM employees "
        f"WHERE {_OVERFLOW} < c.rate)",
        "integer overflow",
        one_column("EUR", "USD"),
    ),
    _error(
        "overflow_of_a_sum",
        "SELECT sum(salary * 500000000000000) IS NULL AS n FROM employees",
        "integer overflow",
        one_column(0),
    ),
    _error(
        "overflow_two_hops_away",
        "SELECT product FROM order_lines WHERE abs(-9223372036854775807 - (product = 'gold')) > 0",
        "integer overflow",
        one_column("bolt", "nut"),
    ),
    _error(
        "overflow_for_a_masked_salary",
        "SELECT name FROM employees WHERE abs(-9223372036854775807 - (salary = 5100)) IS NULL",
        "integer overflow",
        OURS,
        role="member",
    ),
    _error(
        "json_of_a_name",
        "SELECT name FROM employees WHERE "
        "CASE WHEN salary = 7770 THEN json_extract(name, '$') IS NULL ELSE TRUE END",
        "malformed JSON",
        OURS,
    ),
]
