"""Masked and hidden columns, read or inferred. All three engines.

A member sees the salary as NULL and no badge; the auditor sees all rows and names only as hashes.
"""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import Attack, one_column
from tests.attacks.everywhere import spread_all, steal
from tests.attacks.scratch import EVERYBODY, OURS

_steal = partial(steal, "masks")
_SALARIES = one_column(5100, 4200, 3900, 7770, 6100, 9900, 3000)
_NULLS = one_column(None, None, None)
_GUESSES = "(SELECT 4200 AS guess UNION ALL SELECT 5100) AS guesses"

ATTACKS: list[Attack] = [
    *_steal("select", "SELECT salary FROM employees", _SALARIES, _NULLS, role="member"),
    *_steal(
        "where",
        "SELECT name FROM employees WHERE salary > 5000 AND department_id = 1",
        one_column("Ada"),
        (),
        role="member",
    ),
    *_steal(
        "where_not",
        "SELECT name FROM employees WHERE NOT salary > 5000 AND department_id = 1",
        one_column("Ben", "Cleo"),
        (),
        role="member",
    ),
    *_steal(
        "is_null",
        "SELECT count(*) AS n FROM employees WHERE salary IS NOT NULL",
        ((7,),),
        ((0,),),
        role="member",
    ),
    *_steal(
        "case",
        "SELECT name, CASE WHEN salary > 5000 THEN 'high' ELSE 'low' END AS pay FROM employees "
        "WHERE id < 3",
        (("Ada", "high"), ("Ben", "low")),
        (("Ada", "low"), ("Ben", "low")),
        role="member",
    ),
    *_steal(
        "order_by",
        "SELECT name FROM employees WHERE department_id = 1 ORDER BY salary, name LIMIT 1",
        one_column("Cleo"),
        one_column("Ada"),
        role="member",
    ),
    *_steal(
        "rank",
        "SELECT name, rank() OVER (ORDER BY salary) AS place FROM employees "
        "WHERE department_id = 1",
        (("Cleo", 1), ("Ben", 2), ("Ada", 3)),
        (("Ada", 1), ("Ben", 1), ("Cleo", 1)),
        role="member",
    ),
    *_steal(
        "aggregate",
        "SELECT min(salary) AS least, sum(salary) AS total, count(salary) AS n FROM employees",
        ((3000, 39970, 7),),
        ((None, None, 0),),
        role="member",
    ),
    *_steal(
        "filter",
        "SELECT count(*) FILTER (WHERE salary > 4000) AS n FROM employees",
        ((5,),),
        ((0,),),
        role="member",
    ),
    *_steal(
        "having",
        "SELECT department_id FROM employees GROUP BY department_id HAVING max(salary) > 5000",
        one_column(1, 2, 3),
        (),
        role="member",
    ),
    *_steal(
        "group_by",
        "SELECT count(*) AS n FROM employees WHERE department_id = 1 GROUP BY salary",
        one_column(1, 1, 1),
        one_column(3),
        role="member",
    ),
    *_steal(
        "distinct",
        "SELECT DISTINCT salary FROM employees WHERE department_id = 1",
        one_column(5100, 4200, 3900),
        one_column(None),
        role="member",
    ),
    *_steal(
        "join_to_guesses",
        f"SELECT e.name, guess FROM employees AS e JOIN {_GUESSES} ON guess = e.salary",
        (("Ada", 5100), ("Ben", 4200)),
        (),
        role="member",
    ),
    *spread_all(
        _steal,
        {
            "join_to_itself": (
                "SELECT a.name FROM employees AS a JOIN employees AS b ON a.salary > b.salary "
                "WHERE b.name = 'Ben'"
            ),
            "through_a_cte_under_another_name": (
                "WITH e AS (SELECT name AS a, salary AS b FROM employees) SELECT a FROM e WHERE b "
                "> 5000"
            ),
        },
        one_column("Ada", "Dora", "Emil", "Fay"),
        (),
        role="member",
    ),
    *_steal(
        "using",
        "SELECT a.name FROM employees AS a JOIN employees AS b USING (salary)",
        EVERYBODY,
        (),
        role="member",
    ),
    *_steal(
        "in_list_of_itself",
        "SELECT name FROM employees WHERE 4200 IN (salary)",
        one_column("Ben"),
        (),
        role="member",
    ),
    *_steal(
        "coalesce",
        "SELECT coalesce(salary, -1) AS n FROM employees WHERE id = 1",
        one_column(5100),
        one_column(-1),
        role="member",
    ),
    *_steal(
        "concatenated",
        "SELECT name || ' earns ' || salary AS n FROM employees WHERE id = 1",
        one_column("Ada earns 5100"),
        one_column(None),
        role="member",
    ),
    *_steal(
        "through_a_view",
        "SELECT pay FROM pay_by_department WHERE department_id = 1",
        one_column(13200),
        one_column(None),
        role="member",
    ),
    *_steal(
        "through_a_view_by_where",
        "SELECT department_id FROM pay_by_department WHERE pay > 13000",
        one_column(1, 2),
        (),
        role="member",
    ),
    *_steal(
        "set_operation",
        "SELECT 4200 AS n INTERSECT SELECT salary FROM employees",
        one_column(4200),
        (),
        role="member",
    ),
    *_steal(
        "hidden",
        "SELECT badge FROM employees WHERE id = 1",
        one_column("badge-1"),
        refused_as="not_permitted",
        role="member",
    ),
    *_steal(
        "hidden_by_a_star",
        "SELECT * FROM (SELECT * FROM employees) AS e WHERE id = 1",
        ((1, "Ada", 5100, 1, None, "badge-1"),),
        ((1, "Ada", None, 1, None),),
        role="member",
    ),
    *_steal(
        "hidden_in_where",
        "SELECT name FROM employees WHERE badge = 'badge-1'",
        one_column("Ada"),
        refused_as="not_permitted",
        role="member",
    ),
    *_steal(
        "hidden_in_order_by",
        "SELECT name FROM employees ORDER BY badge DESC LIMIT 1",
        one_column("Gus"),
        refused_as="not_permitted",
        role="member",
    ),
    *_steal(
        "hidden_in_using",
        "SELECT a.name FROM employees AS a JOIN employees AS b USING (badge)",
        EVERYBODY,
        refused_as="not_permitted",
        role="member",
    ),
    # without the column nothing is common to both sides
    *_steal(
        "hidden_by_natural_join",
        "SELECT e.name FROM employees AS e NATURAL JOIN (SELECT 'badge-1' AS badge) AS x",
        one_column("Ada"),
        OURS,
        role="member",
        refusals={"duckdb": "42000"},
    ),
    *_steal(
        "hidden_by_position",
        "SELECT f FROM employees AS e (a, b, c, d, e, f) WHERE a = 1",
        one_column("badge-1"),
        refused_as="unknown_column",
        role="member",
        lacking=("sqlite",),
    ),
    *_steal(
        "hidden_in_a_correlated_subquery",
        "SELECT d.id FROM departments AS d WHERE EXISTS "
        "(SELECT 1 FROM employees AS e WHERE e.department_id = d.id AND badge LIKE '%1')",
        one_column(1),
        refused_as="not_permitted",
        role="member",
    ),
    *spread_all(
        _steal,
        {
            "hashed_where": "SELECT id FROM employees WHERE name = 'Dora'",
            "hashed_like": "SELECT id FROM employees WHERE name LIKE 'D%'",
        },
        one_column(4),
        (),
        role="auditor",
    ),
    *_steal(
        "hashed_length",
        "SELECT DISTINCT length(name) AS n FROM employees",
        one_column(3, 4),
        one_column(64),
        role="auditor",
    ),
    *_steal(
        "hashed_join_to_guesses",
        "SELECT e.id FROM employees AS e JOIN (SELECT 'Dora' AS guess UNION SELECT 'Ada') AS g "
        "ON e.name = g.guess",
        one_column(1, 4),
        (),
        role="auditor",
    ),
    *_steal(
        "hashed_for_one_of_two_roles",
        "SELECT name FROM employees WHERE name IN ('Ada', 'Dora')",
        one_column("Ada", "Dora"),
        one_column("Ada"),
        role="member and auditor",
    ),
    *_steal(
        "hidden_from_both_of_two_roles",
        "SELECT customer FROM orders",
        one_column("Acme", "Byte", "Coda", "Dune", "Echo"),
        one_column("Acme", "Byte"),
        role="member and auditor",
    ),
]
