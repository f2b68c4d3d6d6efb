"""Each rule by its golden pairs (fixtures/derive/RULE.sql): the title is the question."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlglot

from nl2sql.types import Plan
from ranking.score.plan_terms import ASKED_RULES
from repair.derive import ASKED, RULES, Rule, derive_queries
from repair.derive.original import Original
from repair.derive.tables import counted_tables
from tests.fakes import SHOP, build_context, build_key, build_table
from tests.golden import FIXTURES, Pair, load_pairs
from tests.repair.autocorrect.golden_tables import build_defined_tables, build_golden_context

PAIRS = [
    pytest.param(rule, pair, id=f"{rule.__name__}: {pair.title}: {pair.before}")
    for rule in RULES
    for pair in load_pairs(f"derive/{rule.__name__}")
]


QUESTION = "totals of orders"
JOINED = (
    "SELECT o.total FROM orders AS o JOIN customers AS c ON o.customer_id = c.id"
    " WHERE c.country = 'DE'"
)


@pytest.mark.parametrize(("rule", "pair"), PAIRS)
def test_a_rule_derives_what_its_golden_file_lists(rule: Rule, pair: Pair) -> None:
    tree = sqlglot.parse_one(pair.before, dialect="postgres")
    made = rule(Original(tree, build_defined_tables(pair.title), pair.title))
    assert [query.sql("postgres") for query in made] == pair.after.splitlines()
    assert tree == sqlglot.parse_one(pair.before, dialect="postgres"), "the original is unchanged"


def test_every_golden_file_has_its_rule() -> None:
    names = {path.stem for path in (FIXTURES / "derive").glob("*.sql")}
    assert names == {rule.__name__ for rule in RULES}


def derive(*queries: str, question: str = QUESTION, most: int = 8, **known: object) -> list[str]:
    context = build_golden_context()
    made = derive_queries(queries, question, context, Plan(), most=most, **known)  # type: ignore[arg-type]
    return [derived.sql for derived in made]


def test_queries_of_equal_form_are_derived_once_and_known_ones_never() -> None:
    both = derive(JOINED, JOINED.replace("c.", "x.").replace(" AS c", " AS x"))
    assert both == derive(JOINED)
    assert both[0] not in derive(JOINED, known=(both[0].replace("SELECT", "select"),))


def test_no_more_are_derived_than_asked_for_and_earlier_rules_come_first() -> None:
    everything = derive(JOINED, most=64)
    assert len(everything) > 1
    assert derive(JOINED, most=1) == everything[:1]


@pytest.mark.parametrize("sql", ["", "SELECT", "DROP TABLE customers", "not a query", "SELECT 1"])
def test_what_cannot_be_read_has_no_neighbours(sql: str) -> None:
    assert derive(sql) == []


def test_a_derived_query_names_its_parent_and_its_rule() -> None:
    made = derive_queries(["SELECT 1", JOINED], QUESTION, build_golden_context(), Plan(), most=1)
    assert [(derived.parent, derived.rule) for derived in made] == [(1, "grounded_values")]


def test_what_the_question_asks_for_is_derived_with_names_too() -> None:
    sql = "SELECT o.seller_id, AVG(o.total) FROM orders AS o GROUP BY o.seller_id"
    context = build_golden_context()
    made = derive_queries([sql], "Average, rounded to one decimal", context, Plan(), most=3)
    assert [(derived.parent, derived.rule) for derived in made] == [
        (0, "shown_names"),
        (0, "asked_rounding"),
        (2, "shown_names"),
    ]


def test_the_vote_trusts_the_rules_that_read_the_question() -> None:
    assert {rule.__name__ for rule in ASKED} == ASKED_RULES


@pytest.mark.parametrize(
    ("question", "is_named"),
    [("number of shows of each customer", True), ("Show the number of customers by name", False)],
)
def test_two_tables_that_refer_to_the_same_one_are_not_counted_together(
    question: str, is_named: bool
) -> None:
    shows = build_table("sales.shows", "id integer", "customer_id integer", key=("id",))
    key = build_key("sales.shows(customer_id)", "sales.customers(id)")
    catalog = replace(SHOP, tables=(*SHOP.tables, shows), foreign_keys=(*SHOP.foreign_keys, key))
    counted = "SELECT c.name, COUNT(*) FROM customers AS c{} GROUP BY c.name"
    joined = counted.format(" JOIN orders AS o ON o.customer_id = c.id AND o.total > 9")
    made = derive_queries(
        [counted.format(""), joined],
        question,
        build_context(catalog),
        Plan(),
        most=8,
        rules=[counted_tables],
    )
    assert [derived.sql for derived in made] == [
        counted.format(" JOIN shows ON c.id = shows.customer_id")
    ] * is_named
