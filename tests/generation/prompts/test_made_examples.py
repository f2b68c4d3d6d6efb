"""Examples made from keys: what they ask, over which keys, and that the database runs them."""

from __future__ import annotations

from dataclasses import replace

from generation.prompts.made_examples import make_examples
from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.types import JoinPlan, Plan
from tests.fakes import build_context

CUSTOMERS = Table("main", "Customers", (Column("id", "int"), Column("name", "text")), ("id",))
ORDERS = Table("main", "order", (Column("Order No", "int"), Column("customer", "int")))
LINES = Table("main", "order_lines", (Column("no", "int"), Column("ord", "int")))
BOUGHT = ForeignKey("", "main.order", ("customer",), "main.Customers", ("id",))
OF = ForeignKey("", "main.order_lines", ("ord",), "main.order", ("Order No",))
CATALOG = Catalog("d", (CUSTOMERS, ORDERS, LINES), (BOUGHT, OF), ("main",), "sqlite")


def test_the_first_key_is_counted_and_excluded_and_the_second_ranked() -> None:
    made = make_examples(build_context(CATALOG, dialect="sqlite"), Plan())
    assert [(shot.question, shot.sql) for shot in made] == [
        (
            "How many orders does each customer have?",
            'SELECT T1.name, COUNT(*) FROM Customers AS T1 JOIN "order" AS T2 ON T1.id = '
            "T2.customer GROUP BY T1.id, T1.name",
        ),
        (
            "Which customer has no orders?",
            'SELECT name FROM Customers WHERE id NOT IN (SELECT customer FROM "order" WHERE '
            "customer IS NOT NULL)",
        ),
        (
            "Which order has the most order lines?",
            'SELECT T1."Order No" FROM "order" AS T1 JOIN order_lines AS T2 ON T1."Order No" = '
            'T2.ord GROUP BY T1."Order No" ORDER BY COUNT(*) DESC LIMIT 1',
        ),
    ]


def test_keys_of_the_plan_come_first() -> None:
    made = make_examples(build_context(CATALOG, dialect="sqlite"), Plan(joins=JoinPlan(keys=(OF,))))
    assert [shot.question for shot in made] == [
        "How many order lines does each order have?",
        "Which order has no order lines?",
        "Which customer has the most orders?",
    ]


def test_no_key_no_example() -> None:
    own = replace(BOUGHT, target="main.order", target_columns=("Order No",))
    pair = replace(OF, columns=("ord", "no"), target_columns=("Order No", "customer"))
    for keys in ((), (own,), (pair,)):
        catalog = replace(CATALOG, foreign_keys=keys)
        assert make_examples(build_context(catalog), Plan()) == ()
    assert make_examples(build_context(CATALOG, ["main.order"]), Plan()) == ()
