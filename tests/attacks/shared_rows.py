"""Ways to rows, and errors that betray them, that more than one engine has, word for word."""

from __future__ import annotations

from tests.attacks.attack import Attack, Carries, Fails, Shows
from tests.attacks.everywhere import same, share
from tests.attacks.scratch import EVERYBODY, OURS

_IF_DORA = "CASE WHEN salary = 7770 THEN CAST(name AS integer) ELSE 0 END"

ATTACKS: list[Attack] = [
    *share(
        "rows",
        "materialized_cte",
        "WITH e AS MATERIALIZED (SELECT * FROM employees) SELECT name FROM e",
        same(Shows(EVERYBODY), "postgres", "duckdb"),
        yields=OURS,
    ),
    *share(
        "spellings",
        "dollar_quotes",
        "SELECT name FROM employees WHERE name = $$Dora$$",
        same(Shows((("Dora",),)), "postgres", "duckdb"),
        yields=(),
    ),
    *share(
        "errors",
        "cast_that_carries_the_name",
        f"SELECT name FROM employees WHERE {_IF_DORA} = 0",
        same(Fails("Dora"), "postgres", "duckdb"),
        yields=OURS,
    ),
    *share(
        "errors",
        "cast_in_the_select_list",
        f"SELECT {_IF_DORA} AS n FROM employees",
        same(Fails("Dora"), "postgres", "duckdb"),
        yields=((0,), (0,), (0,)),
    ),
    *share(
        "errors",
        "cast_in_order_by",
        f"SELECT name FROM employees ORDER BY {_IF_DORA}, name",
        same(Fails("Dora"), "postgres", "duckdb"),
        yields=OURS,
    ),
    *share(
        "errors",
        "cast_under_filter",
        f"SELECT count(*) FILTER (WHERE {_IF_DORA} = 0) AS n FROM employees",
        same(Fails("Dora"), "postgres", "duckdb"),
        yields=((3,),),
    ),
    *share(
        "errors",
        "cast_in_a_join_condition",
        (
            "SELECT e.name FROM currencies AS c JOIN employees AS e ON c.code = 'EUR' AND "
            "CASE WHEN e.salary = 7770 THEN CAST(e.name AS integer) ELSE 0 END = 0"
        ),
        same(Fails("Dora"), "postgres", "duckdb"),
        yields=OURS,
    ),
    *share(
        "errors",
        "cast_two_hops_away",
        (
            "SELECT product FROM order_lines WHERE CASE WHEN product = 'gold' THEN "
            "CAST(product AS integer) ELSE 0 END = 0"
        ),
        same(Fails("gold"), "postgres", "duckdb"),
        yields=(("bolt",), ("nut",)),
    ),
    *share(
        "errors",
        "cast_in_a_view",
        (
            "SELECT name FROM directory WHERE CASE WHEN department_id = 3 THEN CAST(name AS "
            "integer) ELSE 0 END = 0"
        ),
        same(Fails("Fay"), "postgres", "duckdb"),
        yields=OURS,
    ),
    *share(
        "errors",
        "several_rows_of_a_scalar_subquery",
        "SELECT (SELECT name FROM employees WHERE department_id = 2) AS n",
        {"postgres": Fails("21000"), "duckdb": Fails("More than one row")},
        yields=((None,),),
    ),
    *share(
        "errors",
        "own_value_in_an_error",
        "SELECT CAST(name AS integer) AS n FROM employees WHERE id = 1",
        same(Fails("Ada"), "postgres", "duckdb"),
        refused_as="22P02",
    ),
    *share(
        "rows",
        "sqlite_master",
        "SELECT sql FROM sqlite_master",
        same(Carries("badge"), "sqlite", "duckdb"),
        refused_as="unknown_table",
    ),
    *share(
        "rows",
        "rowid",
        "SELECT rowid FROM tickets",
        {"sqlite": Shows(((1,), (2,))), "duckdb": Shows(((0,), (1,)))},
        refused_as="unknown_column",
    ),
    *share(
        "rows",
        "string_as_a_hidden_table",
        "SELECT note FROM 'payroll'",
        same(Shows((("payroll-secret",),)), "sqlite", "duckdb"),
        refused_as="not_permitted",
    ),
    *share(
        "rows",
        "mixed_case",
        "SELECT nAmE FROM eMpLoYeEs",
        same(Shows(EVERYBODY), "sqlite", "duckdb"),
        yields=OURS,
    ),
]
