"""Searches for one long text or list in another, and arithmetic on long numbers."""

from __future__ import annotations

import pytest

from tests.execution.guard.test_growth import judge, repeat

# What looks for one text or list in another, {a} and {b}.
SEARCHES = {
    "postgres": """
        {a} LIKE {b}; {a} NOT LIKE {b} ESCAPE 'x'; {b} ILIKE {a}; {a} SIMILAR TO {b}; {a} ~ {b};
        {a} !~* {b}; {a} ~~ {b}; {a} LIKE ANY (ARRAY[{b}]); {a} LIKE ALL (ARRAY[{b}]);
        strpos({a}, {b}); position({b} IN {a});
        split_part({a}, {b}, 1); replace({a}, {b}, ''); translate({a}, {b}, ''); btrim({a}, {b});
        ltrim({a}, {b}); rtrim({a}, {b}); trim(BOTH {b} FROM {a}); string_to_array({a}, {b});
        ARRAY[{a}] && ARRAY[{b}]; ARRAY[{a}] @> ARRAY[{b}]; ARRAY[{a}] <@ ARRAY[{b}];
        {a}::jsonb - ARRAY[{b}]
    """,
    "sqlite": """
        {a} LIKE {b}; {a} GLOB {b}; like({a}, {b}); glob({a}, {b}); instr({a}, {b});
        replace({a}, {b}, ''); trim({a}, {b}); ltrim({a}, {b}); rtrim({a}, {b});
        json_patch({a}, {b})
    """,
    "duckdb": """
        {a} LIKE {b}; {a} GLOB {b}; {a} SIMILAR TO {b}; contains({a}, {b}); instr({a}, {b});
        position({b} IN {a}); strpos({a}, {b}); split({a}, {b}); str_split({a}, {b});
        string_split({a}, {b}); trim({a}, {b}); [{a}] && [{b}]; [{a}] @> [{b}];
        list_has_any([{a}], [{b}]); list_has_all([{a}], [{b}]); list_intersect([{a}], [{b}]);
        array_has_any([{a}], [{b}]); array_has_all([{a}], [{b}]); array_intersect([{a}], [{b}]);
        json_contains({a}, {b})
    """,
}


@pytest.mark.parametrize(
    ("dialect", "search"),
    [
        (dialect, search.strip())
        for dialect, searches in SEARCHES.items()
        for search in searches.split(";")
    ],
)
def test_long_texts_are_not_searched_for_one_another(dialect: str, search: str) -> None:
    ctes = [f"t0 AS (SELECT {repeat('a', 100)} AS a, {repeat('b', 100)} AS b)"]
    for at in range(1, 4):
        value = " || ".join(["{}"] * 5)
        values = f"{value.replace('{}', 'a')} AS a, {value.replace('{}', 'b')} AS b"
        ctes.append(f"t{at} AS (SELECT {values} FROM t{at - 1})")
    sql = f"WITH {', '.join(ctes)} SELECT {search.format(a='l.a', b='s.b')} FROM t3 AS l, {{}} AS s"
    assert judge(sql.format("t0"), dialect) == ""
    assert judge(sql.format("t3"), dialect) == "too_much_text"


def test_all_searches_of_a_query_count_together() -> None:
    def write(count: int) -> str:
        searches = [f"strpos(a, {repeat('x', 70 + at)})" for at in range(count)]
        return f"SELECT {', '.join(searches)} FROM (SELECT repeat('aaaaaaaaaa', 10000) AS a) AS t"

    assert judge(write(9)) == ""
    assert judge(write(14)) == "too_much_text"


def test_a_small_search_counts_too() -> None:
    long = f"strpos(repeat(repeat('xxxxx', 10000), 20), {repeat('y', 100)})"
    assert judge(f"SELECT {long}") == ""
    assert judge(f"SELECT {long}, strpos('x', 'y')") == "too_much_text"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM customers WHERE name ILIKE '%smith%' OR country LIKE '%' || name",
        "SELECT a.name FROM customers a JOIN customers b ON a.name LIKE '%' || b.name || '%'",
        "SELECT length(name) - length(replace(name, ' ', '')), split_part(name, ' ', 1) "
        "FROM customers WHERE string_to_array(name, ',') && ARRAY['a', 'b']",
        "SELECT string_agg(name, ', ') LIKE '%x%' FROM customers",
    ],
)
def test_ordinary_searches_pass(sql: str) -> None:
    assert judge(sql) == ""


LONG_NUMBERS = {
    "power": "7::numeric ^ 150000",
    "power_of_a_product": "7::numeric ^ (1500 * 100)",
    "power_of_a_length": "power(3::numeric, length(repeat('a', 9000)) * 10)",
    "number": "1e100000",
    "number_behind_the_point": "1e-16000",
    "text": "'1e100000'::numeric",
    "repeated_text": "repeat('9876543210', 10000)::numeric",
    "text_in_parts": "('1e' || '100000')::numeric",
    "factorials": " * ".join(["factorial(1000)"] * 8),
}


@pytest.mark.parametrize("number", LONG_NUMBERS.values(), ids=LONG_NUMBERS)
@pytest.mark.parametrize("call", ["x / y", "x % y", "x * y", "div(x, y)", "mod(x, y)", "sqrt(x)"])
def test_long_numbers_are_not_computed_with(number: str, call: str) -> None:
    def write(value: str) -> str:
        calls = f"greatest({', '.join([call] * 150)})"
        return f"SELECT {calls} FROM (VALUES ({value}, {value}), (1, 1)) AS v (x, y)"

    assert judge(write(number)) == "too_much_text"
    assert judge(write("7::numeric ^ 15")) == ""
    assert judge(write("'12.5'::numeric")) == ""


def test_numbers_that_are_long_while_the_query_is_planned() -> None:
    quotients = ", ".join(["(7::numeric ^ {0}) / (3::numeric ^ {0})"] * 40)
    assert judge(f"SELECT {quotients.format(150000)}") == "too_much_text"
    assert judge(f"SELECT {quotients.format(150)}") == ""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT power(max(total) / min(total), 1.0 / (count(*) - 1)) - 1 FROM orders",
        "SELECT total * 0.01 * (1 + 0.01) ^ 360 / ((1 + 0.01) ^ 360 - 1) FROM orders",
        "SELECT total * power(1 + total / 12, id) / (power(1 + total / 12, id) - 1) FROM orders",
        "SELECT n, 1000 * power(1.05, n) FROM generate_series(1, 30) AS n",
        "SELECT sqrt(sum((total - 5) ^ 2) / count(*)), sum(total * total) / count(*) FROM orders",
        "SELECT (count(*) * sum(total * id) - sum(total) * sum(id)) / (sqrt(count(*) * "
        "sum(total * total) - power(sum(total), 2)) * sqrt(count(*) * sum(id * id) - "
        "power(sum(id), 2))) FROM orders",
        "SELECT replace(name, ',', '')::numeric / nullif(replace(country, ',', '')::numeric, 0) "
        "FROM customers",
    ],
)
def test_ordinary_arithmetic_passes(sql: str) -> None:
    assert judge(sql) == ""
