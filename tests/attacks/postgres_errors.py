"""PostgreSQL: errors that only a withheld row can cause, or that carry its values.

Where the guarded query runs, the rows of the principal's own department cause no such error.
"""

from __future__ import annotations

from tests.attacks.attack import HARMLESS, Attack, Fails, Row, one_column, spread
from tests.attacks.scratch import OURS

_GROUP = "errors"


def _attack(
    name: str,
    sql: str,
    text: str,
    yields: tuple[Row, ...] | None = None,
    *,
    refused_as: str = HARMLESS,
    role: str = "manager",
) -> Attack:
    return Attack("postgres", _GROUP, name, sql, Fails(text), refused_as, yields, role)


_IF_DORA = "CASE WHEN salary = 7770 THEN CAST(name AS integer) ELSE 0 END"

ATTACKS: list[Attack] = [
    *spread(
        _attack,
        {
            "division_by_zero": "SELECT name FROM employees WHERE 1 / (salary - 7770) < 2",
            "division_by_zero_of_a_column": (
                "SELECT name FROM employees WHERE "
                "CASE WHEN salary > 9000 THEN 1 / (id - id) ELSE 1 END = 1"
            ),
        },
        "22012",
        OURS,
    ),
    # Folded before a row is read, whoever asks.
    _attack(
        "division_by_zero_in_a_case",
        "SELECT name FROM employees WHERE CASE WHEN salary > 9000 THEN 1 / 0 ELSE 1 END = 1",
        "22012",
        refused_as="22012",
    ),
    _attack(
        "cast_in_group_by",
        f"SELECT count(*) AS n FROM employees GROUP BY {_IF_DORA}",
        "Dora",
        ((3,),),
    ),
    _attack("cast_in_an_aggregate", f"SELECT sum({_IF_DORA}) AS n FROM employees", "Dora", ((0,),)),
    _attack(
        "cast_in_a_window",
        f"SELECT count(*) OVER (PARTITION BY {_IF_DORA}) AS n FROM employees",
        "Dora",
        one_column(3, 3, 3),
    ),
    *spread(
        _attack,
        {
            "cast_in_the_condition_of_an_outer_join": (
                "SELECT c.code FROM currencies AS c LEFT JOIN employees AS e ON "
                "CASE WHEN e.salary = 7770 THEN CAST(e.name AS integer) ELSE c.rate END = 9"
            ),
            "cast_in_exists": (
                f"SELECT code FROM currencies WHERE NOT EXISTS "
                f"(SELECT 1 FROM employees WHERE {_IF_DORA} <> 0)"
            ),
        },
        "Dora",
        one_column("EUR", "USD"),
    ),
    _attack(
        "cast_in_lateral",
        "SELECT c.code FROM currencies AS c, LATERAL (SELECT 1 FROM employees AS e WHERE "
        "CASE WHEN e.salary = 7770 THEN CAST(e.name AS integer) ELSE 1 END = c.rate) AS x",
        "Dora",
        one_column("EUR", "EUR", "EUR"),
    ),
    *spread(
        _attack,
        {
            "cast_in_an_inlined_cte": (
                f"WITH e AS (SELECT name, {_IF_DORA} AS n FROM employees) SELECT name FROM e WHERE "
                "n = 0"
            ),
            "cast_to_a_date": (
                "SELECT name FROM employees WHERE "
                "CASE WHEN salary = 7770 THEN CAST(name AS date) IS NULL ELSE TRUE END"
            ),
        },
        "Dora",
        OURS,
    ),
    _attack(
        "cast_in_a_partitioned_table",
        "SELECT note FROM events WHERE CASE WHEN id = 11 THEN CAST(note AS integer) ELSE 0 END = 0",
        "theirs",
        one_column("ours"),
    ),
    _attack(
        "cast_in_a_child_table",
        "SELECT topic FROM tickets WHERE "
        "CASE WHEN id = 4 THEN CAST(topic AS integer) ELSE 0 END = 0",
        "theirs, old",
        one_column("ours", "ours, old"),
    ),
    _attack(
        "cast_of_the_masked_salary",
        "SELECT name FROM employees WHERE "
        "CASE WHEN salary > 5000 THEN CAST('earns ' || salary AS integer) ELSE 0 END = 0",
        "earns 5100",
        OURS,
        role="member",
    ),
    _attack("overflow", "SELECT name FROM employees WHERE salary * 300000 > 0", "22003", OURS),
    _attack(
        "square_root_of_a_negative",
        "SELECT name FROM employees WHERE sqrt(6000 - salary) > 0",
        "2201F",
        OURS,
    ),
    _attack(
        "logarithm_of_zero",
        "SELECT name FROM employees WHERE ln(abs(salary - 9900)) > 0",
        "2201E",
        OURS,
    ),
    _attack(
        "substring_of_negative_length",
        "SELECT name FROM employees WHERE substring(name FROM 1 FOR 9000 - salary) = name",
        "22011",
        OURS,
    ),
    _attack(
        "several_rows_in_a_comparison",
        "SELECT code FROM currencies WHERE rate = (SELECT id FROM employees WHERE salary > 6000)",
        "21000",
        (),
    ),
    _attack(
        "pattern_made_of_a_value",
        "SELECT name FROM employees WHERE "
        "name ~ CASE WHEN salary = 7770 THEN '(' ELSE '^[ABC]' END",
        "2201B",
        OURS,
    ),
    _attack(
        "limit_made_of_a_value",
        "SELECT code FROM currencies LIMIT "
        "(SELECT CASE WHEN max(salary) > 9000 THEN -1 ELSE 1 END FROM employees)",
        "2201W",
        one_column("EUR"),
    ),
    _attack(
        "character_made_of_a_value",
        "SELECT name FROM employees WHERE chr(9899 - salary) IS NOT NULL",
        "22023",
        OURS,
    ),
]
