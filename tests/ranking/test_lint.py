"""Each lint rule over queries that it finds fault with and queries that it leaves alone.

The golden files hold a query and what is said of it, about the schema ``SHOP``, with codes.
"""

from __future__ import annotations

from collections import Counter

import pytest

from nl2sql.types import Finding
from ranking.lint import RULES, lint_query
from ranking.query import read_query
from tests.fakes import SHOP, build_key, build_table
from tests.golden import FIXTURES, Pair, load_pairs

NAMES = [rule.__name__ for rule in RULES]
ERRORS = NAMES[: NAMES.index("unlisted_code") + 1]


PARCELS = build_table(
    "stock.parcels",
    "order_id integer",
    "next_id integer",
    "state text -- DMG = damaged, WRG = wrong one",
)
KEYS = (*SHOP.keys, build_key("stock.parcels(order_id)", "sales.orders(id)"))


def lint(sql: str) -> dict[str, Finding]:
    """The findings by rule."""
    query = read_query(sql, "sqlite", (*SHOP.tables, PARCELS), KEYS)
    assert query is not None
    return {finding.rule: finding for finding in lint_query(query)}


@pytest.mark.parametrize(
    ("rule", "pair"),
    [
        pytest.param(rule, pair, id=f"{rule}: {pair.title}")
        for rule in NAMES
        for pair in load_pairs(f"lint/{rule}")
    ],
)
def test_a_rule_finds_its_fault_and_no_other(rule: str, pair: Pair) -> None:
    finding = lint(pair.before).get(rule)
    assert (f"{finding.severity}: {finding.message}" if finding else "") == pair.after


@pytest.mark.parametrize("rule", NAMES)
def test_a_rule_has_queries_that_it_finds_and_queries_that_it_leaves_alone(rule: str) -> None:
    found = Counter(bool(pair.after) for pair in load_pairs(f"lint/{rule}"))
    assert found[True]
    assert found[False] >= 2


def test_every_golden_file_has_its_rule() -> None:
    assert {path.stem for path in (FIXTURES / "lint").glob("*.sql")} == set(NAMES)


def test_errors_stand_before_warnings() -> None:
    severities = {
        rule: pair.after.split(":")[0]
        for rule in NAMES
        for pair in load_pairs(f"lint/{rule}")
        if pair.after
    }
    assert [rule for rule in NAMES if severities[rule] == "error"] == ERRORS


def test_without_types_and_keys_nothing_is_guessed() -> None:
    query = read_query("SELECT 1 FROM orders WHERE customer_id = 'Acme'", "postgres")
    assert query is not None
    assert [finding.rule for finding in lint_query(query)] == []


def test_a_question_for_what_is_called_so_may_count_names() -> None:
    query = read_query("SELECT count(*) FROM customers WHERE name = 'Ann'", "sqlite", SHOP.tables)
    assert query is not None
    assert lint_query(query, "How many Anns are there?")
    assert not lint_query(query, "How many customers are called Ann?")
