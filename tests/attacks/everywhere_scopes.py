"""Row policies, evaded by the place in which the table stands. All three engines."""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import Attack, one_column
from tests.attacks.everywhere import spread_all, steal
from tests.attacks.scratch import EVERYBODY, OURS

_steal = partial(steal, "scopes")
# Names that a row of department 1 cannot give.
_NOBODY = one_column()

ATTACKS: list[Attack] = [
    *spread_all(
        _steal,
        {
            "plain": "SELECT name FROM employees",
            "always_true": "SELECT name FROM employees WHERE department_id = 1 OR 1 = 1",
            "always_true_in_parentheses": (
                "SELECT name FROM employees WHERE (department_id = 1) OR (1 = 1) OR (name = 'x')"
            ),
            "cte": "WITH all_of_them AS (SELECT name FROM employees) SELECT name FROM all_of_them",
            "nested_cte": (
                "WITH a AS (WITH b AS (SELECT name FROM employees) SELECT name FROM b) SELECT name "
                "FROM a"
            ),
            "cte_of_a_cte": (
                "WITH a AS (SELECT * FROM employees), b AS (SELECT * FROM a) SELECT name FROM b"
            ),
            "cte_named_like_another_table": (
                "WITH departments AS (SELECT name FROM employees) SELECT name FROM departments"
            ),
            "table_past_the_cte_of_its_name": (
                "WITH employees AS (SELECT 'decoy' AS name) SELECT name FROM main.employees"
            ),
            "cte_inside_hides_nothing_outside": (
                "SELECT e.name FROM (WITH employees AS (SELECT 1 AS one) SELECT one FROM "
                "employees) AS x, "
                "employees AS e"
            ),
            "recursive_cte": (
                "WITH RECURSIVE chain AS ("
                "SELECT id, name FROM employees WHERE manager_id IS NULL "
                "UNION ALL "
                "SELECT e.id, e.name FROM employees AS e JOIN chain AS c ON e.manager_id = c.id) "
                "SELECT name FROM chain"
            ),
            "derived_table": "SELECT x.name FROM (SELECT * FROM employees) AS x",
            "derived_table_five_deep": (
                "SELECT name FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM "
                "employees) "
                "AS a) AS b) AS c) AS d"
            ),
            "comma_join": "SELECT e.name FROM currencies AS c, employees AS e WHERE c.code = 'EUR'",
            "natural_join": (
                "SELECT e.name FROM employees AS e NATURAL JOIN (SELECT id FROM employees) AS x"
            ),
            "using": "SELECT a.name FROM employees AS a JOIN employees AS b USING (id)",
            "joined_in_parentheses": (
                "SELECT e.name FROM (employees AS e CROSS JOIN currencies AS c) WHERE c.code = "
                "'EUR'"
            ),
            "alias_of_another_table": "SELECT departments.name FROM employees AS departments",
            "aliases_crossed": (
                "SELECT departments.name FROM departments AS employees, employees AS departments "
                "WHERE employees.id = 1"
            ),
            "alias_of_a_schema": "SELECT main.name FROM employees AS main",
            "columns_renamed_by_the_cte": (
                "WITH e (a, b) AS (SELECT id, name FROM employees) SELECT b FROM e"
            ),
            "under_its_schema": "SELECT name FROM main.employees",
            "in_capitals": "SELECT NAME FROM EMPLOYEES WHERE ID > 0",
            "quoted": 'SELECT "name" FROM "main"."employees"',
            "column_under_table_and_schema": "SELECT main.employees.name FROM main.employees",
        },
        EVERYBODY,
        OURS,
    ),
    *_steal(
        "department_of_somebody_else",
        "SELECT name FROM employees WHERE department_id = 2",
        one_column("Dora", "Emil"),
        _NOBODY,
    ),
    *_steal(
        "department_is_null",
        "SELECT name FROM employees WHERE department_id IS NULL",
        one_column("Gus"),
        _NOBODY,
    ),
    # a circle there
    *_steal(
        "cte_named_like_its_table",
        "WITH employees AS (SELECT name FROM employees) SELECT name FROM employees",
        EVERYBODY,
        OURS,
        lacking=("sqlite",),
    ),
    *spread_all(
        _steal,
        {
            "table_outside_the_scope_of_the_cte": (
                "SELECT name FROM employees WHERE id IN ("
                "WITH employees AS (SELECT 4 AS id) SELECT id FROM employees)"
            ),
            "intersect_branch": "SELECT 'Dora' AS name INTERSECT SELECT name FROM employees",
        },
        one_column("Dora"),
        _NOBODY,
    ),
    *_steal(
        "recursive_step_only",
        "WITH RECURSIVE chain AS (SELECT 4 AS id, 'decoy' AS name "
        "UNION ALL SELECT e.id, e.name FROM employees AS e JOIN chain AS c ON e.manager_id = c.id) "
        "SELECT name FROM chain",
        one_column("decoy", "Emil", "Gus"),
        one_column("decoy"),
    ),
    *_steal(
        "union_branch",
        "SELECT name FROM departments WHERE id = 1 UNION ALL SELECT name FROM employees",
        (("Engineering",), *EVERYBODY),
        (("Engineering",), *OURS),
    ),
    *_steal(
        "third_union_branch",
        "SELECT 'a' AS name UNION SELECT 'b' UNION SELECT name FROM employees",
        (*one_column("a", "b"), *EVERYBODY),
        (*one_column("a", "b"), *OURS),
    ),
    *_steal(
        "except_branch",
        "SELECT 'Dora' AS name EXCEPT SELECT name FROM employees",
        _NOBODY,
        one_column("Dora"),
    ),
    *_steal(
        "scalar_subquery",
        "SELECT (SELECT max(salary) FROM employees) AS most",
        one_column(9900),
        one_column(5100),
    ),
    *_steal(
        "scalar_subquery_in_a_call",
        "SELECT coalesce((SELECT max(name) FROM employees WHERE department_id = 2), 'none') AS n",
        one_column("Emil"),
        one_column("none"),
    ),
    *_steal(
        "correlated_subquery",
        "SELECT c.code, (SELECT max(e.name) FROM employees AS e WHERE e.department_id = c.rate) "
        "AS n FROM currencies AS c",
        (("EUR", "Cleo"), ("USD", "Emil")),
        (("EUR", "Cleo"), ("USD", None)),
    ),
    *_steal(
        "in_subquery",
        "SELECT code FROM currencies WHERE rate IN (SELECT department_id FROM employees)",
        one_column("EUR", "USD"),
        one_column("EUR"),
    ),
    *_steal(
        "not_in_subquery",
        "SELECT code FROM currencies WHERE rate NOT IN "
        "(SELECT department_id FROM employees WHERE department_id IS NOT NULL)",
        _NOBODY,
        one_column("USD"),
    ),
    *spread_all(
        _steal,
        {
            "in_subquery_of_rows": (
                "SELECT code FROM currencies WHERE (rate, 'Dora') IN "
                "(SELECT department_id, name FROM employees)"
            ),
            "subquery_in_a_join_condition": (
                "SELECT c.code FROM currencies AS c JOIN departments AS d ON d.id = 1 AND c.rate = "
                "(SELECT count(*) FROM employees AS e WHERE e.department_id = 2)"
            ),
        },
        one_column("USD"),
        _NOBODY,
    ),
    *_steal(
        "exists",
        "SELECT 'yes' AS answer WHERE EXISTS (SELECT 1 FROM employees WHERE name = 'Dora')",
        one_column("yes"),
        _NOBODY,
    ),
    *_steal(
        "exists_in_case",
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM employees WHERE salary > 9000) THEN 'yes' "
        "ELSE 'no' END AS answer",
        one_column("yes"),
        one_column("no"),
    ),
    *_steal(
        "all_subquery",
        "SELECT code FROM currencies WHERE 6000 > ALL (SELECT salary FROM employees)",
        _NOBODY,
        one_column("EUR", "USD"),
        lacking=("sqlite",),
    ),
    *_steal(
        "any_subquery",
        "SELECT code FROM currencies WHERE 9900 = ANY (SELECT salary FROM employees)",
        one_column("EUR", "USD"),
        _NOBODY,
        lacking=("sqlite",),
    ),
    *_steal(
        "lateral",
        "SELECT x.name FROM currencies AS c CROSS JOIN LATERAL "
        "(SELECT e.name FROM employees AS e WHERE e.department_id = c.rate) AS x",
        one_column("Ada", "Ben", "Cleo", "Dora", "Emil"),
        OURS,
        lacking=("sqlite",),
    ),
    *_steal(
        "self_join",
        "SELECT b.name FROM employees AS a JOIN employees AS b ON b.id <> a.id WHERE a.id = 1",
        EVERYBODY[1:],
        OURS[1:],
    ),
    *_steal(
        "left_join",
        "SELECT c.code, e.name FROM currencies AS c LEFT JOIN employees AS e "
        "ON e.department_id = c.rate + 1",
        (("EUR", "Dora"), ("EUR", "Emil"), ("USD", "Fay")),
        (("EUR", None), ("USD", None)),
    ),
    *_steal(
        "right_join",
        "SELECT e.name FROM currencies AS c RIGHT JOIN employees AS e ON e.department_id = c.rate "
        "WHERE c.code IS NULL OR c.code = 'USD'",
        one_column("Dora", "Emil", "Fay", "Gus"),
        _NOBODY,
    ),
    *_steal(
        "full_join",
        "SELECT c.code, e.name FROM currencies AS c FULL JOIN employees AS e ON e.id = c.rate + 3",
        (
            ("EUR", "Dora"),
            ("USD", "Emil"),
            *((None, name) for name in ("Ada", "Ben", "Cleo", "Fay", "Gus")),
        ),
        (("EUR", None), ("USD", None), (None, "Ada"), (None, "Ben"), (None, "Cleo")),
    ),
    *_steal(
        "columns_renamed_by_the_alias",
        "SELECT b FROM employees AS e (a, b)",
        EVERYBODY,
        OURS,
        lacking=("sqlite",),
    ),
    *_steal(
        "star_of_one_table",
        "SELECT currencies.code, departments.* FROM currencies, departments WHERE rate = 2",
        (("USD", 1, "Engineering", 100), ("USD", 2, "Finance", 200), ("USD", 3, "Board", 300)),
        (("USD", 1, "Engineering", 100),),
    ),
]
