"""DuckDB: what only it has for reading a row past its policy, and errors that betray one."""

from __future__ import annotations

from tests.attacks.attack import HARMLESS, Attack, Carries, Evidence, Fails, Row, Shows, one_column
from tests.attacks.scratch import EVERYBODY, OURS


def _attack(
    name: str,
    sql: str,
    works: Evidence,
    yields: tuple[Row, ...] | None = None,
    *,
    group: str = "rows",
    refused_as: str = HARMLESS,
    role: str = "manager",
) -> Attack:
    return Attack("duckdb", group, name, sql, works, refused_as, yields, role)


def _error(
    name: str,
    sql: str,
    text: str,
    yields: tuple[Row, ...] | None = None,
    *,
    role: str = "manager",
    refused_as: str = HARMLESS,
) -> Attack:
    return _attack(name, sql, Fails(text), yields, group="errors", role=role, refused_as=refused_as)


_IF_DORA = "CASE WHEN salary = 7770 THEN CAST(name AS integer) ELSE 0 END"

ATTACKS: list[Attack] = [
    # -- structs --
    _attack("whole_row", "SELECT e FROM employees AS e WHERE id = 4", Carries("7770"), ()),
    _attack(
        "field_of_a_row",
        "SELECT e.badge FROM (SELECT employees AS e FROM employees) AS x WHERE e.id = 1",
        Shows(one_column("badge-1")),
        refused_as="42703",
        role="member",
    ),
    _attack(
        "struct_extract",
        "SELECT struct_extract(e, 'badge') FROM employees AS e WHERE id = 1",
        Shows(one_column("badge-1")),
        refused_as="42703",
        role="member",
    ),
    _attack(
        "unnested_row", "SELECT unnest(e) FROM employees AS e WHERE id = 4", Carries("7770"), ()
    ),
    _attack(
        "row_as_json",
        "SELECT to_json(e)::text FROM employees AS e WHERE id = 4",
        Carries("7770"),
        (),
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
    _attack(
        "star_replace_of_a_hidden_column",
        "SELECT e.* REPLACE (left(badge, 7) AS badge) FROM employees AS e WHERE id = 1",
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
        "star_replace",
        "SELECT * REPLACE (badge AS name) FROM employees WHERE id = 1",
        Carries("badge-1"),
        refused_as="not_permitted",
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
    _attack(
        "qualify",
        "SELECT name FROM employees QUALIFY row_number() OVER (ORDER BY salary DESC) = 1",
        Shows(one_column("Fay")),
        one_column("Ada"),
    ),
    _attack(
        "positional_join",
        "SELECT e.name FROM currencies AS c POSITIONAL JOIN employees AS e",
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
    _attack(
        "using_sample",
        "SELECT name FROM employees USING SAMPLE 100%",
        Shows(EVERYBODY),
        refused_as="node_not_allowed",
    ),
    _attack(
        "tablesample",
        "SELECT name FROM employees TABLESAMPLE 100%",
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
        "limit_percent",
        "SELECT name FROM employees LIMIT 100%",
        Shows(EVERYBODY),
        yields=OURS,
    ),
    _attack(
        "pivot_in_from",
        "SELECT * FROM (PIVOT employees ON id IN (4) USING max(salary) "
        "GROUP BY department_id) AS p WHERE department_id = 2",
        Carries("7770"),
        refused_as="node_not_allowed",
    ),
    _attack("alias_before_the_expression", "SELECT n: name FROM employees", Shows(EVERYBODY), OURS),
    _attack("alias_before_the_table", "SELECT e.name FROM e: employees", Shows(EVERYBODY), OURS),
    _attack(
        "list_of_a_subquery",
        "SELECT ARRAY(SELECT name FROM employees ORDER BY id)::text AS n",
        Carries("Dora"),
        refused_as="node_not_allowed",
    ),
    _attack(
        "list_comprehension",
        "SELECT [x || '!' FOR x IN list(name)]::text AS n FROM employees",
        Carries("Dora!"),
        refused_as="node_not_allowed",
    ),
    _attack(
        "lambda",
        "SELECT list_transform(list(name), lambda x: x || '!')::text AS n FROM employees",
        Carries("Dora!"),
        refused_as="node_not_allowed",
    ),
    _attack(
        "arg_max",
        "SELECT arg_max(name, salary) AS n FROM employees",
        Shows(one_column("Fay")),
        one_column("Ada"),
    ),
    _attack(
        "rowid", "SELECT rowid FROM tickets", Shows(one_column(0, 1)), refused_as="unknown_column"
    ),
    _attack(
        "materialized_cte",
        "WITH e AS MATERIALIZED (SELECT * FROM employees) SELECT name FROM e",
        Shows(EVERYBODY),
        OURS,
    ),
    # -- errors --
    _error(
        "cast_that_carries_the_name",
        f"SELECT name FROM employees WHERE {_IF_DORA} = 0",
        "Dora",
        OURS,
    ),
    _error(
        "cast_in_the_select_list",
        f"SELECT {_IF_DORA} AS n FROM employees",
        "Dora",
        one_column(0, 0, 0),
    ),
    _error(
        "cast_in_order_by", f"SELECT name FROM employees ORDER BY {_IF_DORA}, name", "Dora", OURS
    ),
    _error(
        "cast_in_a_join",
        "SELECT e.name FROM currencies AS c JOIN employees AS e ON "
        "c.code = 'EUR' AND CASE WHEN e.salary = 7770 THEN CAST(e.name AS integer) ELSE 0 END "
        "= 0",
        "Dora",
        OURS,
    ),
    _error(
        "cast_under_filter",
        f"SELECT count(*) FILTER (WHERE {_IF_DORA} = 0) AS n FROM employees",
        "Dora",
        ((3,),),
    ),
    _error(
        "cast_in_a_view",
        "SELECT name FROM directory WHERE "
        "CASE WHEN department_id = 3 THEN CAST(name AS integer) ELSE 0 END = 0",
        "Fay",
        OURS,
    ),
    _error(
        "cast_two_hops_away",
        "SELECT product FROM order_lines WHERE "
        "CASE WHEN product = 'gold' THEN CAST(product AS integer) ELSE 0 END = 0",
        "gold",
        one_column("bolt", "nut"),
    ),
    _error(
        "several_rows_of_a_scalar_subquery",
        "SELECT (SELECT name FROM employees WHERE department_id = 2) AS n",
        "More than one row",
        one_column(None),
    ),
    _error(
        "cast_out_of_range",
        "SELECT name FROM employees WHERE CAST(salary * 4 AS smallint) > 0",
        "39600",
        OURS,
    ),
    _error(
        "own_value_in_an_error",
        "SELECT CAST(name AS integer) AS n FROM employees WHERE id = 1",
        "Ada",
        refused_as="22P02",
    ),
]
