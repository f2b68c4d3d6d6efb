"""Row policies, evaded by the place in which the table stands. All three engines."""

from __future__ import annotations

from tests.attacks.attack import Attack, one_column
from tests.attacks.everywhere import steal
from tests.attacks.scratch import EVERYBODY, OURS

_GROUP = "scopes"
# Names that a row of department 1 cannot give.
_NOBODY = one_column()

ATTACKS: list[Attack] = [
    *steal(_GROUP, "plain", "SELECT name FROM employees", EVERYBODY, OURS),
    *steal(
        _GROUP,
        "always_true",
        "SELECT name FROM employees WHERE department_id = 1 OR 1 = 1",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "always_true_in_parentheses",
        "SELECT name FROM employees WHERE (department_id = 1) OR (1 = 1) OR (name = 'x')",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "department_of_somebody_else",
        "SELECT name FROM employees WHERE department_id = 2",
        one_column("Dora", "Emil"),
        _NOBODY,
    ),
    *steal(
        _GROUP,
        "department_is_null",
        "SELECT name FROM employees WHERE department_id IS NULL",
        one_column("Gus"),
        _NOBODY,
    ),
    *steal(
        _GROUP,
        "cte",
        "WITH all_of_them AS (SELECT name FROM employees) SELECT name FROM all_of_them",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "nested_cte",
        "WITH a AS (WITH b AS (SELECT name FROM employees) SELECT name FROM b) SELECT name FROM a",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "cte_of_a_cte",
        "WITH a AS (SELECT * FROM employees), b AS (SELECT * FROM a) SELECT name FROM b",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "cte_named_like_its_table",
        "WITH employees AS (SELECT name FROM employees) SELECT name FROM employees",
        EVERYBODY,
        OURS,
        lacking=("sqlite",),  # a circle there
    ),
    *steal(
        _GROUP,
        "cte_named_like_another_table",
        "WITH departments AS (SELECT name FROM employees) SELECT name FROM departments",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "table_past_the_cte_of_its_name",
        "WITH employees AS (SELECT 'decoy' AS name) SELECT name FROM main.employees",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "table_outside_the_scope_of_the_cte",
        "SELECT name FROM employees WHERE id IN ("
        "WITH employees AS (SELECT 4 AS id) SELECT id FROM employees)",
        one_column("Dora"),
        _NOBODY,
    ),
    *steal(
        _GROUP,
        "cte_inside_hides_nothing_outside",
        "SELECT e.name FROM (WITH employees AS (SELECT 1 AS one) SELECT one FROM employees) AS x, "
        "employees AS e",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "recursive_cte",
        "WITH RECURSIVE chain AS ("
        "SELECT id, name FROM employees WHERE manager_id IS NULL "
        "UNION ALL "
        "SELECT e.id, e.name FROM employees AS e JOIN chain AS c ON e.manager_id = c.id) "
        "SELECT name FROM chain",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "recursive_step_only",
        "WITH RECURSIVE chain AS (SELECT 4 AS id, 'decoy' AS name "
        "UNION ALL SELECT e.id, e.name FROM employees AS e JOIN chain AS c ON e.manager_id = c.id) "
        "SELECT name FROM chain",
        one_column("decoy", "Emil", "Gus"),
        one_column("decoy"),
    ),
    *steal(
        _GROUP,
        "union_branch",
        "SELECT name FROM departments WHERE id = 1 UNION ALL SELECT name FROM employees",
        (("Engineering",), *EVERYBODY),
        (("Engineering",), *OURS),
    ),
    *steal(
        _GROUP,
        "third_union_branch",
        "SELECT 'a' AS name UNION SELECT 'b' UNION SELECT name FROM employees",
        (*one_column("a", "b"), *EVERYBODY),
        (*one_column("a", "b"), *OURS),
    ),
    *steal(
        _GROUP,
        "intersect_branch",
        "SELECT 'Dora' AS name INTERSECT SELECT name FROM employees",
        one_column("Dora"),
        _NOBODY,
    ),
    *steal(
        _GROUP,
        "except_branch",
        "SELECT 'Dora' AS name EXCEPT SELECT name FROM employees",
        _NOBODY,
        one_column("Dora"),
    ),
    *steal(
        _GROUP,
        "derived_table",
        "SELECT x.name FROM (SELECT * FROM employees) AS x",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "derived_table_five_deep",
        "SELECT name FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM employees) "
        "AS a) AS b) AS c) AS d",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "scalar_subquery",
        "SELECT (SELECT max(salary) FROM employees) AS most",
        one_column(9900),
        one_column(5100),
    ),
    *steal(
        _GROUP,
        "scalar_subquery_in_a_call",
        "SELECT coalesce((SELECT max(name) FROM employees WHERE department_id = 2), 'none') AS n",
        one_column("Emil"),
        one_column("none"),
    ),
    *steal(
        _GROUP,
        "correlated_subquery",
        "SELECT c.code, (SELECT max(e.name) FROM employees AS e WHERE e.department_id = c.rate) "
        "AS n FROM currencies AS c",
        (("EUR", "Cleo"), ("USD", "Emil")),
        (("EUR", "Cleo"), ("USD", None)),
    ),
    *steal(
        _GROUP,
        "in_subquery",
        "SELECT code FROM currencies WHERE rate IN (SELECT department_id FROM employees)",
        one_column("EUR", "USD"),
        one_column("EUR"),
    ),
    *steal(
        _GROUP,
        "not_in_subquery",
        "SELECT code FROM currencies WHERE rate NOT IN "
        "(SELECT department_id FROM employees WHERE department_id IS NOT NULL)",
        _NOBODY,
        one_column("USD"),
    ),
    *steal(
        _GROUP,
        "in_subquery_of_rows",
        "SELECT code FROM currencies WHERE (rate, 'Dora') IN "
        "(SELECT department_id, name FROM employees)",
        one_column("USD"),
        _NOBODY,
    ),
    *steal(
        _GROUP,
        "exists",
        "SELECT 'yes' AS answer WHERE EXISTS (SELECT 1 FROM employees WHERE name = 'Dora')",
        one_column("yes"),
        _NOBODY,
    ),
    *steal(
        _GROUP,
        "exists_in_case",
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM employees WHERE salary > 9000) THEN 'yes' "
        "ELSE 'no' END AS answer",
        one_column("yes"),
        one_column("no"),
    ),
    *steal(
        _GROUP,
        "all_subquery",
        "SELECT code FROM currencies WHERE 6000 > ALL (SELECT salary FROM employees)",
        _NOBODY,
        one_column("EUR", "USD"),
        lacking=("sqlite",),
    ),
    *steal(
        _GROUP,
        "any_subquery",
        "SELECT code FROM currencies WHERE 9900 = ANY (SELECT salary FROM employees)",
        one_column("EUR", "USD"),
        _NOBODY,
        lacking=("sqlite",),
    ),
    *steal(
        _GROUP,
        "lateral",
        "SELECT x.name FROM currencies AS c CROSS JOIN LATERAL "
        "(SELECT e.name FROM employees AS e WHERE e.department_id = c.rate) AS x",
        one_column("Ada", "Ben", "Cleo", "Dora", "Emil"),
        OURS,
        lacking=("sqlite",),
    ),
    *steal(
        _GROUP,
        "self_join",
        "SELECT b.name FROM employees AS a JOIN employees AS b ON b.id <> a.id WHERE a.id = 1",
        EVERYBODY[1:],
        OURS[1:],
    ),
    *steal(
        _GROUP,
        "comma_join",
        "SELECT e.name FROM currencies AS c, employees AS e WHERE c.code = 'EUR'",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "left_join",
        "SELECT c.code, e.name FROM currencies AS c LEFT JOIN employees AS e "
        "ON e.department_id = c.rate + 1",
        (("EUR", "Dora"), ("EUR", "Emil"), ("USD", "Fay")),
        (("EUR", None), ("USD", None)),
    ),
    *steal(
        _GROUP,
        "right_join",
        "SELECT e.name FROM currencies AS c RIGHT JOIN employees AS e ON e.department_id = c.rate "
        "WHERE c.code IS NULL OR c.code = 'USD'",
        one_column("Dora", "Emil", "Fay", "Gus"),
        _NOBODY,
    ),
    *steal(
        _GROUP,
        "full_join",
        "SELECT c.code, e.name FROM currencies AS c FULL JOIN employees AS e ON e.id = c.rate + 3",
        (
            ("EUR", "Dora"),
            ("USD", "Emil"),
            *((None, name) for name in ("Ada", "Ben", "Cleo", "Fay", "Gus")),
        ),
        (("EUR", None), ("USD", None), (None, "Ada"), (None, "Ben"), (None, "Cleo")),
    ),
    *steal(
        _GROUP,
        "natural_join",
        "SELECT e.name FROM employees AS e NATURAL JOIN (SELECT id FROM employees) AS x",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "using",
        "SELECT a.name FROM employees AS a JOIN employees AS b USING (id)",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "subquery_in_a_join_condition",
        "SELECT c.code FROM currencies AS c JOIN departments AS d ON d.id = 1 AND c.rate = "
        "(SELECT count(*) FROM employees AS e WHERE e.department_id = 2)",
        one_column("USD"),
        _NOBODY,
    ),
    *steal(
        _GROUP,
        "joined_in_parentheses",
        "SELECT e.name FROM (employees AS e CROSS JOIN currencies AS c) WHERE c.code = 'EUR'",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "alias_of_another_table",
        "SELECT departments.name FROM employees AS departments",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "aliases_crossed",
        "SELECT departments.name FROM departments AS employees, employees AS departments "
        "WHERE employees.id = 1",
        EVERYBODY,
        OURS,
    ),
    *steal(_GROUP, "alias_of_a_schema", "SELECT main.name FROM employees AS main", EVERYBODY, OURS),
    *steal(
        _GROUP,
        "columns_renamed_by_the_alias",
        "SELECT b FROM employees AS e (a, b)",
        EVERYBODY,
        OURS,
        lacking=("sqlite",),
    ),
    *steal(
        _GROUP,
        "columns_renamed_by_the_cte",
        "WITH e (a, b) AS (SELECT id, name FROM employees) SELECT b FROM e",
        EVERYBODY,
        OURS,
    ),
    *steal(_GROUP, "under_its_schema", "SELECT name FROM main.employees", EVERYBODY, OURS),
    *steal(_GROUP, "in_capitals", "SELECT NAME FROM EMPLOYEES WHERE ID > 0", EVERYBODY, OURS),
    *steal(_GROUP, "quoted", 'SELECT "name" FROM "main"."employees"', EVERYBODY, OURS),
    *steal(
        _GROUP,
        "column_under_table_and_schema",
        "SELECT main.employees.name FROM main.employees",
        EVERYBODY,
        OURS,
    ),
    *steal(
        _GROUP,
        "star_of_one_table",
        "SELECT currencies.code, departments.* FROM currencies, departments WHERE rate = 2",
        (("USD", 1, "Engineering", 100), ("USD", 2, "Finance", 200), ("USD", 3, "Board", 300)),
        (("USD", 1, "Engineering", 100),),
    ),
]
