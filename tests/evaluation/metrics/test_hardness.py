"""Spider's rating, on its own examples and on one query for each of its rules."""

from __future__ import annotations

import pytest

from evaluation.metrics.hardness import rate_hardness

JOIN = "FROM t JOIN u ON t.id = u.id"

# The four examples of the paper (Yu et al. 2018, figure 3). It calls the third hard; the script,
# which the published counts come from, sees four clauses (two joins, WHERE, GROUP BY): extra.
PUBLISHED = [
    ("easy", "SELECT COUNT(*) FROM cars_data WHERE cylinders > 4"),
    (
        "medium",
        "SELECT T2.name, COUNT(*) FROM concert AS T1 JOIN stadium AS T2"
        " ON T1.stadium_id = T2.stadium_id GROUP BY T1.stadium_id",
    ),
    (
        "extra",
        "SELECT T1.country_name FROM countries AS T1 JOIN continents AS T2"
        " ON T1.continent = T2.cont_id JOIN car_makers AS T3 ON T1.country_id = T3.country"
        " WHERE T2.continent = 'Europe' GROUP BY T1.country_name HAVING COUNT(*) >= 3",
    ),
    (
        "extra",
        "SELECT AVG(life_expectancy) FROM country WHERE name NOT IN (SELECT T1.name FROM country"
        " AS T1 JOIN country_language AS T2 ON T1.code = T2.country_code"
        " WHERE T2.language = 'English' AND T2.is_official = 'T')",
    ),
]

BY_HAND = [
    # Clauses and others: (0, 0), (1, 0), (0, 1), (1, 2), (2, 0), (2, 1), (3, 0).
    ("easy", "SELECT a FROM t"),
    ("easy", "SELECT a FROM t LIMIT 1"),
    ("medium", "SELECT a, b FROM t"),
    ("medium", "SELECT a, b FROM t WHERE c = 1 AND d = 2"),
    ("medium", "SELECT a FROM t ORDER BY b LIMIT 1"),
    ("medium", "SELECT a, b FROM t ORDER BY b LIMIT 1"),
    ("hard", f"SELECT a {JOIN} ORDER BY b LIMIT 1"),
    # (2, 2) falls through the published rules; (2, 3) does not; (3, 3) and (4, 0) are too much.
    ("extra", "SELECT a, count(*) FROM t GROUP BY a ORDER BY count(*)"),
    ("hard", "SELECT a, count(*) FROM t GROUP BY a, b ORDER BY count(*)"),
    ("hard", "SELECT a, count(*) FROM t GROUP BY a ORDER BY count(*) LIMIT 1"),
    ("extra", "SELECT a, count(*) FROM t GROUP BY a, b ORDER BY count(*) LIMIT 1"),
    ("extra", f"SELECT a {JOIN} WHERE a = 1 ORDER BY b LIMIT 1"),
    # OR and LIKE are clauses of their own: two and three, with one other each.
    ("medium", "SELECT a FROM t WHERE b LIKE 'x%'"),
    ("hard", "SELECT a FROM t WHERE b LIKE 'x%' OR c = 1"),
    ("hard", "SELECT a FROM t WHERE b = 1 OR b = 2 OR b = 3"),
    # BETWEEN holds an AND that is none.
    ("easy", "SELECT a FROM t WHERE b BETWEEN 1 AND 2"),
    # One nested query is hard where nothing else is, and extra where anything is.
    ("hard", "SELECT a FROM t WHERE b > (SELECT avg(b) FROM t)"),
    ("hard", "SELECT a FROM t UNION SELECT b FROM u"),
    ("extra", "SELECT a, b FROM t EXCEPT SELECT c, d FROM u"),
    ("extra", "SELECT a FROM t WHERE b IN (SELECT b FROM u) OR c IN (SELECT c FROM u)"),
    ("hard", "SELECT a FROM t WHERE b IN (SELECT b FROM u WHERE c IN (SELECT c FROM v))"),
    # The ORDER BY behind a set operation is not that of its first SELECT.
    ("hard", "SELECT a FROM t WHERE b = 1 UNION SELECT b FROM u ORDER BY 1 LIMIT 1"),
    # A derived table is a table, not a nested query.
    ("easy", "SELECT count(*) FROM (SELECT a, b FROM t WHERE c = 1 OR d = 2) AS s"),
    # A negation counts as an aggregate, here the second; IS NOT NULL does not.
    ("medium", "SELECT count(*) FROM t WHERE a NOT LIKE 'x'"),
    ("extra", f"SELECT count(*), b {JOIN} WHERE NOT t.a = 2"),
    ("medium", f"SELECT count(*), b {JOIN} WHERE a IS NOT NULL"),
    # The aggregate of a HAVING counts for nothing.
    ("easy", "SELECT count(*) FROM t GROUP BY a HAVING avg(b) > 1"),
    # What Spider's grammar lacks.
    ("hard", "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u)"),
    ("hard", "WITH s AS (SELECT a FROM t) SELECT a FROM s"),
    ("extra", "WITH s AS (SELECT 1), r AS (SELECT 2) SELECT * FROM s"),
    ("medium", "SELECT a FROM t WHERE b ILIKE 'x%'"),
]


@pytest.mark.parametrize(("expected", "sql"), PUBLISHED)
def test_the_published_examples(expected: str, sql: str) -> None:
    assert rate_hardness(sql, "sqlite") == expected


@pytest.mark.parametrize(("expected", "sql"), BY_HAND)
def test_each_rule(expected: str, sql: str) -> None:
    assert rate_hardness(sql, "postgres") == expected


@pytest.mark.parametrize("sql", ["", "SELECT FROM WHERE (", "DELETE FROM t", "VALUES (1)", "hm"])
def test_what_is_no_select_is_not_rated(sql: str) -> None:
    assert rate_hardness(sql, "postgres") == ""
