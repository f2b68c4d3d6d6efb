"""What rows are withheld, guessed from counts, order, limits and frames. All three engines."""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import Attack, one_column
from tests.attacks.everywhere import spread_all, steal
from tests.attacks.scratch import EVERYBODY, OURS

_steal = partial(steal, "oracles")
_FIVE = (
    "(SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) "
    "AS five"
)

ATTACKS: list[Attack] = [
    *_steal("count", "SELECT count(*) AS n FROM employees", ((7,),), ((3,),)),
    *_steal(
        "count_of_a_guess",
        "SELECT count(*) AS n FROM employees WHERE salary BETWEEN 7000 AND 8000",
        ((1,),),
        ((0,),),
    ),
    *_steal(
        "count_under_filter",
        "SELECT count(*) FILTER (WHERE department_id <> 1) AS n FROM employees",
        ((3,),),
        ((0,),),
    ),
    *_steal(
        "name_under_filter",
        "SELECT max(name) FILTER (WHERE salary > 9000) AS n FROM employees",
        one_column("Fay"),
        one_column(None),
    ),
    *_steal(
        "sum_of_cases",
        "SELECT sum(CASE WHEN department_id = 2 THEN salary ELSE 0 END) AS n FROM employees",
        ((13870,),),
        ((0,),),
    ),
    *_steal(
        "average_of_all_less_ours",
        "SELECT sum(salary) - (SELECT sum(salary) FROM employees WHERE department_id = 1) AS n "
        "FROM employees",
        ((26770,),),
        ((0,),),
    ),
    *_steal(
        "distinct",
        "SELECT DISTINCT department_id FROM employees",
        one_column(1, 2, 3, None),
        one_column(1),
    ),
    *spread_all(
        _steal,
        {
            "count_distinct": "SELECT count(DISTINCT department_id) AS n FROM employees",
            "offset_subquery": (
                f"SELECT n FROM {_FIVE} ORDER BY n LIMIT 1 OFFSET "
                "(SELECT count(*) FROM employees WHERE department_id = 2)"
            ),
        },
        ((3,),),
        ((1,),),
    ),
    *_steal(
        "group_by",
        "SELECT department_id, count(*) AS n FROM employees GROUP BY department_id",
        ((1, 3), (2, 2), (3, 1), (None, 1)),
        ((1, 3),),
    ),
    *_steal(
        "having",
        "SELECT min('many') AS answer FROM employees HAVING count(*) > 5",
        one_column("many"),
        (),
    ),
    *_steal(
        "subquery_in_having",
        "SELECT count(*) AS n FROM currencies HAVING count(*) < (SELECT count(*) FROM employees "
        "WHERE salary > 6000)",
        ((2,),),
        (),
    ),
    *_steal(
        "grouping_sets",
        "SELECT department_id, count(*) AS n FROM employees "
        "GROUP BY GROUPING SETS ((department_id), ()) HAVING count(*) <> 3",
        ((2, 2), (3, 1), (None, 1), (None, 7)),
        (),
        lacking=("sqlite",),
    ),
    *_steal(
        "distinct_on",
        "SELECT DISTINCT ON (department_id) name FROM employees ORDER BY department_id, name",
        one_column("Ada", "Dora", "Fay", "Gus"),
        one_column("Ada"),
        lacking=("sqlite",),
    ),
    *_steal(
        "order_by_subquery",
        f"SELECT n FROM {_FIVE} ORDER BY CASE WHEN (SELECT count(*) FROM employees) > 3 "
        "THEN -n ELSE n END LIMIT 1",
        ((5,),),
        ((1,),),
    ),
    *_steal(
        "limit_subquery",
        f"SELECT n FROM {_FIVE} ORDER BY n LIMIT "
        "(SELECT count(*) FROM employees WHERE department_id = 2)",
        ((1,), (2,)),
        (),
    ),
    *_steal(
        "rows_past_the_limit",
        "SELECT name FROM employees ORDER BY id LIMIT 4 OFFSET 3",
        one_column("Dora", "Emil", "Fay", "Gus"),
        (),
    ),
    *_steal(
        "window_frame",
        "SELECT name, sum(salary) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) "
        "AS n FROM employees",
        (
            ("Ada", 9300),
            ("Ben", 8100),
            ("Cleo", 11670),
            ("Dora", 13870),
            ("Emil", 16000),
            ("Fay", 12900),
            ("Gus", 3000),
        ),
        (("Ada", 9300), ("Ben", 8100), ("Cleo", 3900)),
    ),
    *_steal(
        "next_row",
        "SELECT lead(name) OVER (ORDER BY id) AS n FROM employees WHERE id >= 3",
        one_column("Dora", "Emil", "Fay", "Gus", None),
        one_column(None),
    ),
    *_steal(
        "last_of_the_window",
        "SELECT DISTINCT last_value(name) OVER (ORDER BY salary ROWS BETWEEN UNBOUNDED PRECEDING "
        "AND UNBOUNDED FOLLOWING) AS n FROM employees",
        one_column("Fay"),
        one_column("Ada"),
    ),
    *_steal(
        "named_window",
        "SELECT max(salary) OVER w AS n FROM employees WHERE id = 3 OR id = 6 "
        "WINDOW w AS (PARTITION BY 1)",
        ((9900,), (9900,)),
        ((3900,),),
    ),
    *_steal(
        "rank_among_all",
        "SELECT name, rank() OVER (ORDER BY salary) AS n FROM employees",
        (("Gus", 1), ("Cleo", 2), ("Ben", 3), ("Ada", 4), ("Emil", 5), ("Dora", 6), ("Fay", 7)),
        (("Cleo", 1), ("Ben", 2), ("Ada", 3)),
    ),
    *_steal(
        "subquery_in_a_window",
        "SELECT name FROM (SELECT name, row_number() OVER (ORDER BY (SELECT count(*) FROM "
        "employees) * id DESC) AS n FROM employees) AS x WHERE n = 1",
        one_column("Gus"),
        one_column("Cleo"),
    ),
    *_steal(
        "key_of_somebody_elses_row",
        "SELECT customer FROM orders WHERE seller_id = 4",
        one_column("Coda"),
        (),
    ),
    *_steal(
        "row_without_a_parent",
        "SELECT customer FROM orders WHERE seller_id IS NULL",
        one_column("Echo"),
        (),
    ),
    *_steal(
        "one_hop",
        "SELECT customer FROM orders",
        one_column("Acme", "Byte", "Coda", "Dune", "Echo"),
        one_column("Acme", "Byte"),
    ),
    *_steal(
        "two_hops",
        "SELECT product FROM order_lines",
        one_column("bolt", "nut", "gold", "ruby"),
        one_column("bolt", "nut"),
    ),
    *_steal(
        "three_hops",
        "SELECT carrier FROM shipments",
        one_column("post", "armoured car", "drone"),
        one_column("post"),
    ),
    *_steal(
        "three_hops_joined_without_the_middle",
        "SELECT s.carrier, l.product FROM shipments AS s LEFT JOIN order_lines AS l "
        "ON l.id = s.line_id",
        (("post", "bolt"), ("armoured car", "gold"), ("drone", "ruby")),
        (("post", "bolt"),),
    ),
    *_steal(
        "three_hops_under_a_shadow",
        "WITH orders AS (SELECT 12 AS id), employees AS (SELECT 4 AS id) "
        "SELECT product FROM order_lines WHERE order_id IN (SELECT id FROM orders)",
        one_column("gold"),
        (),
    ),
    *spread_all(
        _steal,
        {
            "view": "SELECT name FROM directory",
            "view_of_a_view": "SELECT name FROM directory_of_directory",
            "view_under_a_shadow_of_its_table": (
                "WITH employees AS (SELECT 4 AS id, 'decoy' AS name, 1 AS department_id, 1 AS "
                "salary) "
                "SELECT d.name FROM directory AS d, employees"
            ),
            "view_joined_to_itself": (
                "SELECT a.name FROM directory AS a JOIN directory AS b ON a.id = b.id"
            ),
        },
        EVERYBODY,
        OURS,
    ),
    *_steal(
        "view_that_aggregates",
        "SELECT department_id, heads, pay FROM pay_by_department",
        ((1, 3, 13200), (2, 2, 13870), (3, 1, 9900), (None, 1, 3000)),
        ((1, 3, 13200),),
    ),
    *spread_all(
        _steal,
        {
            "table_that_no_policy_names": "SELECT note FROM payroll",
            "table_that_no_policy_names_in_a_union": (
                "SELECT code FROM currencies WHERE rate > 9 UNION SELECT note FROM payroll"
            ),
        },
        one_column("payroll-secret"),
        refused_as="not_permitted",
    ),
    *_steal(
        "table_that_no_policy_names_in_order_by",
        "SELECT code FROM currencies ORDER BY (SELECT min(id) FROM payroll), code LIMIT 1",
        one_column("EUR"),
        refused_as="not_permitted",
    ),
    *_steal(
        "snapshot_that_no_policy_reaches",
        "SELECT name FROM pay_snapshot WHERE salary > 9000",
        one_column("Fay"),
        refused_as="not_permitted",
    ),
]
