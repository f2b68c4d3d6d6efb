"""DuckDB: names and spaces that it reads otherwise than other readers of SQL do.

It takes some signs for spaces that have no width, and that others take for letters.
"""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import Attack, Carries, Shows, build_attack, one_column, spread
from tests.attacks.scratch import EVERYBODY, OURS

_attack = partial(build_attack, "duckdb", "spellings")


def _thin(sql: str, space: str) -> str:
    """The statement with ``space`` for each tilde."""
    return sql.replace("~", space)


_THIN_SPACES = {"zero_width": "\u200b", "word_joiner": "\u2060", "byte_order_mark": "\ufeff"}

ATTACKS: list[Attack] = [
    _attack("mixed_case_quoted", 'SELECT "NAME" FROM "EMPLOYEES"', Shows(EVERYBODY), OURS),
    _attack(
        "database_and_table",
        "SELECT name FROM scratch.employees",
        Shows(EVERYBODY),
        refused_as="unknown_table",
    ),
    *spread(
        _attack,
        {
            "non_breaking_spaces": "SELECT\u00a0note\u00a0FROM\u00a0payroll",
            "ideographic_space": "SELECT\u3000note FROM\u3000payroll",
            "string_with_an_escape": r"SELECT note FROM payroll WHERE note <> E'\''",
        },
        Shows(one_column("payroll-secret")),
        refused_as="not_permitted",
    ),
    _attack(
        "function_chain",
        "SELECT name.upper() AS n FROM employees",
        Carries("DORA"),
        yields=one_column("ADA", "BEN", "CLEO"),
    ),
    _attack(
        "hash_column_reference",
        "SELECT #6 FROM employees WHERE id = 1",
        Shows(one_column("badge-1")),
        refused_as="node_not_allowed",
        role="member",
    ),
    *(
        _attack(f"{name}_{sign}", _thin(sql, space), Shows(stolen), refused_as="unparsable")
        for sign, space in _THIN_SPACES.items()
        for name, sql, stolen in (
            (
                "union_in_an_alias",
                "SELECT name FROM departments AS d~UNION~SELECT~note~FROM~payroll",
                one_column("Engineering", "Finance", "Board", "payroll-secret"),
            ),
            (
                "visible_table_in_an_alias",
                "SELECT name FROM departments AS d~UNION~SELECT~name~FROM~employees",
                (*one_column("Engineering", "Finance", "Board"), *EVERYBODY),
            ),
            (
                "visible_table_under_its_schema",
                "SELECT name~FROM~main.employees~UNION~SELECT~name FROM (SELECT name, name AS "
                '"employees~UNION~SELECT~name" FROM employees) AS "name~FROM~main"',
                EVERYBODY,
            ),
            (
                "function_in_an_alias",
                'SELECT * FROM currencies AS c~CROSS~JOIN~query("SELECT note FROM payroll") '
                "WHERE code = 'EUR'",
                (("EUR", 1, "payroll-secret"),),
            ),
        )
    ),
]
