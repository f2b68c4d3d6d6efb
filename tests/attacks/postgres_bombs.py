"""PostgreSQL: a few characters that ask for hours or gigabytes.

Stopped by the guard, or by the executor before they run, or by the time limit: which, the table
says.
"""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import Attack, Endless, Lasts, Shows, one_column, spread
from tests.attacks.everywhere import build_levels

_attack = partial(Attack, "postgres", "bombs")


_TWENTY = ", ".join(f"employees AS e{number}" for number in range(20))
_SUM = " + ".join(f"e{number}.id" for number in range(20))
_MANY = 5_000_000

ATTACKS: list[Attack] = [
    *spread(
        _attack,
        {
            "generate_series": "SELECT count(*) FROM generate_series(1, 1000000000000)",
            "generate_series_as_a_column": (
                "SELECT count(*) FROM (SELECT generate_series(1, 1000000000000)) AS x"
            ),
            "generate_series_lateral": (
                "SELECT count(*) FROM currencies AS c, LATERAL generate_series(1, 1000000000000) "
                "AS n"
            ),
            "generate_series_of_dates": (
                "SELECT count(*) FROM generate_series(DATE '0001-01-01', DATE '9999-12-31', "
                "INTERVAL '1 millisecond')"
            ),
        },
        Endless(),
        "too_many_rows",
    ),
    *spread(
        _attack,
        {
            "repeat_of_a_repeat": "SELECT length(repeat(repeat('x', 5000), 4000))",
            "doubled_in_ctes": (
                "WITH a AS (SELECT 'xxxxxxxxxx' AS t), b AS (SELECT "
                "replace(replace(replace(replace(replace(replace(t, 'x', 'xxxxxxxxxx'), "
                "'x', 'xxxxxxxxxx'), 'x', 'xxxxxxxxxx'), 'x', 'xxxxxxxxxx'), 'x', 'xxxxxxxxxx'), "
                "'x', 'xxxxxxxxxxxxxxxxxxxx') AS t FROM a) SELECT length(t) AS n FROM b"
            ),
            "aggregate_of_repeated_text": (
                "SELECT length(string_agg(repeat('x', 10000), '')) AS n FROM generate_series(1, "
                "2000)"
            ),
        },
        Shows(one_column(20_000_000)),
        "too_much_text",
    ),
    *spread(
        _attack,
        {
            "lpad": f"SELECT length(lpad('x', {_MANY}))",
            "rpad": f"SELECT length(rpad('x', {_MANY}, 'y'))",
            "format_width": f"SELECT length(format('%{_MANY}s', 'x'))",
            "array_fill": f"SELECT cardinality(array_fill(1, ARRAY[{_MANY}]))",
        },
        Shows(one_column(_MANY)),
        "too_much_text",
    ),
    *spread(
        _attack,
        {
            "recursion_without_end": (
                "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 0 FROM n) SELECT count(*) "
                "FROM n"
            ),
            "recursion_under_a_limit_that_never_ends_it": (
                "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 0 FROM n) "
                "SELECT max(i) FROM n LIMIT 1"
            ),
        },
        Endless(),
        "endless_recursion",
    ),
    *spread(
        _attack,
        {
            "cartesian_product": f"SELECT count(*) FROM {_TWENTY}",
            "cartesian_product_in_exists": (
                f"SELECT code FROM currencies WHERE NOT EXISTS (SELECT 1 FROM {_TWENTY} WHERE "
                f"{_SUM} < 0)"
            ),
            "cartesian_product_by_ctes": (
                "WITH a AS (SELECT x.id FROM employees AS x, employees AS y, employees AS z), "
                "b AS (SELECT x.id FROM a AS x, a AS y, a AS z) "
                "SELECT count(*) FROM b AS x, b AS y, b AS z"
            ),
            "cross_joins_that_sort": (
                f"SELECT e1.name FROM {_TWENTY} ORDER BY e1.name || e2.name, e3.salary"
            ),
        },
        Endless(),
        "54001",
    ),
    _attack(
        "backtracking_pattern",
        "SELECT regexp_replace(string_agg(a.name || b.name || c.name || d.name, ''), "
        r"'((.*)(.*)(.*)(.*)\2\3\4\5)+$', '') FROM employees AS a, employees AS b, "
        "employees AS c, employees AS d",
        Endless(),
        "57014",
    ),
    _attack(
        "array_of_repeated_text",
        "SELECT length(array_agg(repeat('x', 10000))::text) AS n FROM generate_series(1, 2000)",
        Shows(one_column(20_002_001)),
        "too_much_text",
    ),
    *(
        _attack(name, build_levels(first, step, levels), Shows(one_column(length)), "too_much_text")
        for name, first, step, levels, length in (
            ("doubled_level_by_level", "'x'", "t || t || t || t", 12, 16_777_216),
            ("doubled_by_concat", "'x'", "concat(t, t, t, t)", 12, 16_777_216),
            ("doubled_by_overlay", "'xx'", "overlay(t PLACING t FROM 1 FOR 0)", 23, 16_777_216),
            ("doubled_by_escapes", "'\"'::text", "to_json(t)::text", 22, 12_582_910),
            ("doubled_by_an_array", "'x'::text", "ARRAY[t, t, t, t]::text", 9, 19_873_009),
            ("doubled_by_a_row", "'x'::text", "ROW(t, t, t, t)::text", 9, 19_873_009),
            ("squared_by_replace", "repeat('x', 4000)", "replace(t, 'x', t)", 1, 16_000_000),
            (
                "squared_by_a_pattern",
                "repeat('x', 4000)",
                "regexp_replace(t, '', t, 'g')",
                1,
                16_008_000,
            ),
            (
                "squared_by_joining_a_list",
                "repeat('x', 4000)",
                "array_to_string(string_to_array(t, NULL), t)",
                1,
                16_000_000,
            ),
            (
                "squared_by_its_own_letters",
                "repeat('x', 4000)",
                "(SELECT string_agg(x.v, '') FROM (SELECT t AS v FROM "
                "unnest(string_to_array(t, NULL)) AS u) AS x)",
                1,
                16_000_000,
            ),
        )
    ),
    _attack(
        "nested_escapes",
        f"SELECT length({'to_json(' * 22}'\"'::text{')::text' * 22}) AS n",
        Shows(one_column(12_582_910)),
        "too_much_text",
    ),
    _attack(
        "gathered_over_a_product",
        "SELECT length(array_agg(repeat('x', 10000))::text) AS n FROM "
        + ", ".join(f"currencies AS c{number}" for number in range(11)),
        Shows(one_column(20_482_049)),
        "too_much_text",
    ),
    _attack(
        "doubled_by_two_columns_that_feed_each_other",
        "WITH RECURSIVE n (i, t, u) AS (SELECT 1, 'x'::text, 'y'::text UNION ALL "
        "SELECT i + 1, u || t, t || u FROM n WHERE i < 23) SELECT max(length(t)) AS n FROM n",
        Shows(one_column(4_194_304)),
        "too_much_text",
    ),
    _attack(
        "expression_that_grows_when_inlined",
        build_levels(
            "'x' || name", "t || t || t || t", 7, source=" FROM currencies, employees", limit=""
        ),
        Lasts(25),
        "too_much_text",
    ),
]
