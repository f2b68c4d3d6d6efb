"""Each rule by its golden pairs (fixtures/autocorrect/RULE.sql), and all of them together.

A title's words in parentheses name the dialect, or say that the plan tells which key is meant.
"""

from __future__ import annotations

import pytest
import sqlglot

from repair.autocorrect import RULES, Rule, autocorrect_query
from repair.whitelist import swapped_names
from tests.golden import FIXTURES, Pair, load_pairs
from tests.repair.autocorrect.golden_tables import build_golden_context, build_visible_tables

ALL = (*RULES, swapped_names)
PAIRS = [
    pytest.param(rule, pair, id=f"{rule.__name__}: {pair.title}")
    for rule in ALL
    for pair in load_pairs(f"autocorrect/{rule.__name__}")
]


def read_tag(pair: Pair) -> str:
    return pair.title.partition(" (")[2].removesuffix(")")


@pytest.mark.parametrize(("rule", "pair"), PAIRS)
def test_a_rule_rewrites_as_in_its_golden_file_and_then_leaves_it_alone(
    rule: Rule, pair: Pair
) -> None:
    visible = build_visible_tables(read_tag(pair))
    tree = sqlglot.parse_one(pair.before, dialect=visible.dialect)
    changed = rule(tree, visible)
    assert (tree.sql(visible.dialect) if changed else "") == pair.after
    assert changed or tree == sqlglot.parse_one(pair.before, dialect=visible.dialect)
    again = sqlglot.parse_one(pair.after or pair.before, dialect=visible.dialect)
    assert not rule(again, visible)


def test_every_golden_file_has_its_rule() -> None:
    names = {path.stem for path in (FIXTURES / "autocorrect").glob("*.sql")}
    assert names == {rule.__name__ for rule in ALL}


@pytest.mark.parametrize(
    ("before", "after", "rules"),
    [
        pytest.param(
            "SELECT c.customer_name, o.country FROM orders o JOIN customers c ON o.cust = c.id",
            "SELECT c.name, c.country FROM orders AS o JOIN customers AS c ON o.customer_id = c.id",
            ("join_keys", "wrong_tables", "invented_columns"),
            id="a name, a table and a join",
        ),
        pytest.param(
            "SELECT sbfirmzone, SUM(sbdlamount) FROM deals GROUP BY sbfirmzone",
            "SELECT firms.sbfirmzone, SUM(sbdlamount) FROM deals "
            "JOIN firms ON deals.sbdlfirmid = firms.sbfirmid GROUP BY sbfirmzone",
            ("neighbour_columns",),
            id="a key that only the prefixes of the columns show",
        ),
    ],
)
def test_rules_work_together(before: str, after: str, rules: tuple[str, ...]) -> None:
    made = autocorrect_query(before, build_golden_context())
    assert made is not None
    assert made.sql == after
    assert set(made.rules) == set(rules)


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT name FROM customers", id="right already"),
        pytest.param("SELECT nope FROM elsewhere", id="an unknown table"),
        pytest.param("not sql at all (", id="no SQL"),
        pytest.param("SELECT " + "(" * 2000 + "1" + ")" * 2000, id="too deep"),
        pytest.param("SELECT * FROM (VALUES (1), (2)) AS v(x) WHERE v.y > 1", id="values"),
        pytest.param("SELECT g FROM generate_series(1, 3) AS g", id="a function in FROM"),
        pytest.param(
            "SELECT c.name, l.n FROM customers AS c, LATERAL (SELECT COUNT(*) AS n FROM orders "
            "WHERE orders.customer_id = c.id) AS l",
            id="LATERAL",
        ),
        pytest.param(
            "WITH RECURSIVE r AS (SELECT id FROM employees UNION SELECT e.id FROM employees AS e "
            "JOIN r ON e.manager_id = r.id) SELECT id FROM r",
            id="a recursive CTE",
        ),
        pytest.param(
            "SELECT 1 FROM customers AS c WHERE EXISTS (WITH o AS (SELECT 1 FROM orders "
            "WHERE customer_id = c.id) SELECT 1 FROM o)",
            id="a CTE that speaks of the query around its own",
        ),
    ],
)
def test_what_is_right_or_cannot_be_told_is_left_alone(sql: str) -> None:
    assert autocorrect_query(sql, build_golden_context()) is None


def test_what_cannot_be_written_is_left_alone() -> None:
    context = build_golden_context("duckdb")
    assert autocorrect_query("SELECT DATETIME(day), contry FROM orders", context) is None
    assert autocorrect_query("SELECT DATETIME(day), country FROM orders", context) is None
