"""Queries in words: the same for the same query, and never an error."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.query_words import describe_apart, describe_query


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            "SELECT DISTINCT c.name FROM customers c JOIN orders o ON o.customer_id = c.id "
            "WHERE o.total > 10 AND NOT c.country IN ('FR', 'DE')",
            "shows different customers.name; of customers and orders; where orders.total is more "
            "than 10 and customers.country is none of 'FR' and 'DE'",
        ),
        (
            "SELECT country, count(DISTINCT id) FROM c GROUP BY country HAVING count(*) >= 2",
            "shows the number of different id for each country; of c; only groups "
            "where the number of rows is at least 2",
        ),
        (
            "SELECT name FROM c WHERE id NOT IN (SELECT customer_id FROM o) AND born IS NOT NULL",
            "shows name; of c; where id is none of (shows customer_id; of o) and born is known",
        ),
        (
            "SELECT name FROM a EXCEPT SELECT name FROM b LIMIT 1",
            "shows name; of a; but without (shows name; of b); only 1 row",
        ),
        (
            "SELECT a.x, b.y FROM a LEFT JOIN b ON a.i = b.i",
            "shows a.x and b.y; of a and b; also without any of b",
        ),
        (
            "SELECT a.x FROM a JOIN b ON a.i = b.i AND b.z > 3",
            "shows a.x; of a and b; joined where a.i is b.i and b.z is more than 3",
        ),
        (
            "SELECT date_trunc('month', d) AS m, round(sum(q * p)::numeric, 2) AS total FROM o "
            "WHERE extract(year FROM d) = 2025 AND d < current_date GROUP BY 1 ORDER BY total DESC",
            "shows the sum of q times p for each month of d; of o; where the year of d is 2025 "
            "and d is less than today; highest first",
        ),
        (
            "SELECT coalesce(sum(x), 0) FROM t WHERE d::date > now() - interval '1 year'",
            "shows the sum of x (or 0); of t; where d is more than now - 1 year",
        ),
        ("SELECT a FROM t GROUP BY a ORDER BY a", "shows different a; of t; sorted by a"),
        (
            "SELECT a, sum(b), sum(c) FROM t GROUP BY a ORDER BY sum(c) DESC",
            "shows the sum of b and the sum of c for each a; of t; sorted by the sum of c, "
            "highest first",
        ),
        ("SELECT * FROM a, b", "shows all columns; of a and b; with every row of b"),
        (
            "SELECT x FROM t WHERE EXISTS (SELECT 1 FROM u) AND NOT EXISTS (SELECT 1 FROM v)",
            "shows x; of t; where there is any (shows 1; of u) and there is no (shows 1; of v)",
        ),
        (
            "SELECT x FROM t WHERE y BETWEEN 1 AND 2 OR (z LIKE 'a%' AND w IS NULL)",
            "shows x; of t; where y is between 1 and 2 or (z is like 'a%' and w is missing)",
        ),
        ("SELECT upper(x) AS u FROM (SELECT x FROM t) s", "shows UPPER(x); of (shows x; of t)"),
        ("WITH a AS (SELECT 1 AS x) SELECT x FROM a", "shows x; of a; a being (shows 1)"),
        ("SELECT 1 UNION SELECT 2", "shows 1; together with (shows 2)"),
    ],
)
def test_a_query_in_words(query: str, words: str) -> None:
    assert "; ".join(describe_query(query, "postgres")) == words


def test_what_does_not_parse_stays_as_it_is() -> None:
    assert describe_query("SELECT  FROM (", "postgres") == ("SELECT FROM (",)
    assert len(describe_query("((" + "x" * 500, "postgres")[0]) < 200


def test_what_tells_two_readings_apart_comes_first() -> None:
    one, other = describe_apart(
        ["SELECT name FROM t ORDER BY a DESC LIMIT 1", "SELECT name FROM t ORDER BY b LIMIT 1"],
        "sqlite",
    )
    assert one == "sorted by a, highest first. The same in both: shows name; of t; only 1 row."
    assert other == "sorted by b. The same in both: shows name; of t; only 1 row."


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            "SELECT FROM WHERE ( ) , * t.a 'x' = JOIN ON AND NOT IN GROUP BY LIMIT 3 UNION "
            "count( DISTINCT ORDER DESC IS NULL WITH AS USING LATERAL".split()
        ),
        max_size=14,
    )
)
def test_any_words_are_described(tokens: list[str]) -> None:
    assert all(isinstance(each, str) for each in describe_query(" ".join(tokens), "postgres"))


def test_a_chain_too_long_for_words_is_shown_as_it_is() -> None:
    (text,) = describe_query(f"SELECT a FROM t WHERE {'a = 1 OR ' * 700} true", "postgres")
    assert text.startswith("SELECT a FROM t WHERE a = 1 OR")
