"""DuckDB: what only it has for reading a row past its policy, and errors that betray one."""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import (
    HARMLESS,
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

_attack = partial(build_attack, "duckdb", "rows")


def _error(
    name: str,
    sql: str,
    text: str,
    yields: tuple[Row, ...] | None = None,
    *,
    role: str = "manager",
    refused_as: str = HARMLESS,
) -> Attack:
    return build_attack(
        "duckdb", "errors", name, sql, Fails(text), yields, role=role, refused_as=refused_as
    )


ATTACKS: list[Attack] = [
    # -- structs --
    *spread(
        _attack,
        {
            "whole_row": "SELECT e FROM employees AS e WHERE id = 4",
            "unnested_row": "SELECT unnest(e) FROM employees AS e WHERE id = 4",
            "row_as_json": "SELECT to_json(e)::text FROM employees AS e WHERE id = 4",
        },
        Carries("7770"),
        (),
    ),
    *spread(
        _attack,
        {
            "field_of_a_row": (
                "SELECT e.badge FROM (SELECT employees AS e FROM employees) AS x WHERE e.id = 1"
            ),
            "struct_extract": "SELECT struct_extract(e, 'badge') FROM employees AS e WHERE id = 1",
        },
        Shows(one_column("badge-1")),
        refused_as="42703",
        role="member",
    ),
    _attack(
        "list_of_rows", "SELECT length(list(e)) AS n FROM employees AS e", Shows(((7,),)), ((3,),)
    ),
    _attack(
        "list_of_rows_as_text",
        "SELECT list(e)::text AS n FROM employees AS e WHERE id = 1",
        Carries("badge-1"),
        one_column(
            "[{'id': 1, 'name': Ada, 'salary': NULL, 'department_id': 1, 'manager_id': NULL}]"
        ),
        role="member",
    ),
    _attack(
        "row_of_a_hidden_table",
        "SELECT payroll FROM payroll",
        Carries("payroll-secret"),
        refused_as="not_permitted",
    ),
    # -- stars --
    _attack(
        "columns",
        "SELECT COLUMNS(*) FROM employees WHERE id = 4",
        Carries("7770"),
        refused_as="node_not_allowed",
    ),
    _attack(
        "columns_by_pattern",
        "SELECT COLUMNS('bad.*') FROM employees WHERE id = 1",
        Shows(one_column("badge-1")),
        refused_as="node_not_allowed",
        role="member",
    ),
    _attack(
        "star_exclude",
        "SELECT * EXCLUDE (id, name, salary, department_id, manager_id) "
        "FROM employees WHERE id = 1",
        Shows(one_column("badge-1")),
        refused_as="42000",
        role="member",
    ),
    _attack(
        "star_exclude_shows_the_rest",
        "SELECT * EXCLUDE (id, name) FROM employees WHERE id = 1",
        Carries("badge-1"),
        ((None, 1, None),),
        role="member",
    ),
    _attack(
        "star_exclude_of_a_hidden_column",
        "SELECT * EXCLUDE (badge) FROM employees WHERE id = 1",
        Carries("5100"),
        refused_as="not_permitted",
        role="member",
    ),
    *spread(
        _attack,
        {
            "star_replace_of_a_hidden_column": (
                "SELECT e.* REPLACE (left(badge, 7) AS badge) FROM employees AS e WHERE id = 1"
            ),
            "star_replace": "SELECT * REPLACE (badge AS name) FROM employees WHERE id = 1",
        },
        Carries("badge-1"),
        refused_as="not_permitted",
        role="member",
    ),
    _attack(
        "star_replace_by_a_hidden_table",
        "SELECT e.* REPLACE ((SELECT payroll::text FROM payroll LIMIT 1) AS name) "
        "FROM employees AS e WHERE id = 1",
        Carries("payroll-secret"),
        refused_as="not_permitted",
    ),
    _attack(
        "star_replace_by_other_rows",
        "SELECT * EXCLUDE (id, salary, department_id, manager_id, badge) "
        "REPLACE ((SELECT max(salary) FROM employees) AS name) FROM employees WHERE id = 1",
        Carries("9900"),
        one_column(5100),
    ),
    _attack(
        "field_of_a_hidden_column",
        "SELECT x.e.badge FROM (SELECT employees AS e FROM employees) AS x WHERE x.e.id = 1",
        Shows(one_column("badge-1")),
        refused_as="42703",
        role="member",
    ),
    _attack(
        "star_rename",
        "SELECT * RENAME (badge AS b) FROM employees WHERE id = 1",
        Carries("badge-1"),
        refused_as="node_not_allowed",
        role="member",
    ),
    _attack(
        "star_like",
        "SELECT * LIKE 'sal%' FROM employees WHERE id = 1",
        Shows(one_column(5100)),
        refused_as="node_not_allowed",
        role="member",
    ),
    # -- clauses --
    *spread(
        _attack,
        {
            "qualify": (
                "SELECT name FROM employees QUALIFY row_number() OVER (ORDER BY salary DESC) = 1"
            ),
            "arg_max": "SELECT arg_max(name, salary) AS n FROM employees",
        },
        Shows(one_column("Fay")),
        one_column("Ada"),
    ),
    *spread(
        _attack,
        {
            "positional_join": "SELECT e.name FROM currencies AS c POSITIONAL JOIN employees AS e",
            "alias_before_the_expression": "SELECT n: name FROM employees",
            "alias_before_the_table": "SELECT e.name FROM e: employees",
        },
        Shows(EVERYBODY),
        OURS,
    ),
    _attack(
        "asof_join",
        "SELECT e.name FROM currencies AS c ASOF JOIN employees AS e ON c.rate + 9000 >= e.salary",
        Shows(one_column("Dora", "Dora")),
        one_column("Ada", "Ada"),
    ),
    _attack(
        "semi_join",
        "SELECT c.code FROM currencies AS c SEMI JOIN employees AS e ON e.department_id = c.rate",
        Shows(one_column("EUR", "USD")),
        one_column("EUR"),
    ),
    _attack(
        "anti_join",
        "SELECT c.code FROM currencies AS c ANTI JOIN employees AS e ON e.department_id = c.rate",
        Shows(()),
        one_column("USD"),
    ),
    *spread(
        _attack,
        {
            "using_sample": "SELECT name FROM employees USING SAMPLE 100%",
            "tablesample": "SELECT name FROM employees TABLESAMPLE 100%",
        },
        Shows(EVERYBODY),
        refused_as="node_not_allowed",
    ),
    _attack(
        "group_by_all",
        "SELECT department_id, count(*) AS n FROM employees GROUP BY ALL",
        Shows(((1, 3), (2, 2), (3, 1), (None, 1))),
        ((1, 3),),
    ),
    _attack(
        "order_by_all",
        "SELECT name FROM employees ORDER BY ALL LIMIT 5",
        Shows(EVERYBODY[:5]),
        OURS,
    ),
    _attack(
        "union_by_name",
        "SELECT 'x' AS name UNION ALL BY NAME SELECT name FROM employees",
        Shows((("x",), *EVERYBODY)),
        (("x",), *OURS),
    ),
    _attack(
        "limit_percent", "SELECT name FROM employees LIMIT 100%", Shows(EVERYBODY), yields=OURS
    ),
    _attack(
        "pivot_in_from",
        "SELECT * FROM (PIVOT employees ON id IN (4) USING max(salary) "
        "GROUP BY department_id) AS p WHERE department_id = 2",
        Carries("7770"),
        refused_as="node_not_allowed",
    ),
    _attack(
        "list_of_a_subquery",
        "SELECT ARRAY(SELECT name FROM employees ORDER BY id)::text AS n",
        Carries("Dora"),
        refused_as="node_not_allowed",
    ),
    *spread(
        _attack,
        {
            "list_comprehension": "SELECT [x || '!' FOR x IN list(name)]::text AS n FROM employees",
            "lambda": (
                "SELECT list_transform(list(name), lambda x: x || '!')::text AS n FROM employees"
            ),
        },
        Carries("Dora!"),
        refused_as="node_not_allowed",
    ),
    # -- errors --
    _error(
        "cast_out_of_range",
        "SELECT name FROM employees WHERE CAST(salary * 4 AS smallint) > 0",
        "39600",
        OURS,
    ),
]
