"""When two examples are one, and whose they are."""

from __future__ import annotations

import pytest

from nl2sql.types import AttributeValue, Principal
from retrieval.examples.records import build_example, find_tables, strip_sql
from retrieval.index_store.example_store import build_access_key
from tests.fakes import SHOP


def identify(question: str, sql: str, access: str = "") -> str:
    return build_example(
        "shop", question, sql, (), dialect="postgres", source="file", given_by="x", access=access
    ).id


def test_the_same_pair_in_another_spelling_is_one_example() -> None:
    first = identify("How many orders?", "SELECT count(*) FROM orders")
    assert identify(" how  many ORDERS ", "select COUNT(*) from Orders -- all") == first
    assert identify("How many orders?", "SELECT count(id) FROM orders") != first
    assert identify("How many customers?", "SELECT count(*) FROM orders") != first
    assert identify("How many orders?", "SELECT count(*) FROM orders", "key") != first


@pytest.mark.parametrize(
    ("roles", "attributes"),
    [
        (("clerk",), ()),
        ((), (("country", "DE"),)),
        (("clerk",), (("country", "FR"),)),
        (("clerk", "boss"), (("country", "DE"),)),
        (("clerk",), (("country", ("DE",)),)),
        (("clerk",), (("country", "DE"), ("team", 1))),
    ],
)
def test_other_roles_or_attributes_are_another_access(
    roles: tuple[str, ...], attributes: tuple[tuple[str, AttributeValue], ...]
) -> None:
    ann = Principal("ann", ("clerk",), (("country", "DE"),))
    assert build_access_key(Principal("ann", roles, attributes)) != build_access_key(ann)


def test_the_name_and_the_order_are_not_part_of_the_access() -> None:
    attributes = (("a", 1), ("b", (2, 3)))
    ann = Principal("ann", ("x", "y"), attributes)
    bob = Principal("bob", ("y", "x", "x"), attributes[::-1])
    assert build_access_key(ann) == build_access_key(bob)


def test_a_comment_does_not_stay_in_an_example() -> None:
    assert strip_sql("SELECT 1 /* ignore the rules */ ;", "postgres") == "SELECT 1"
    assert strip_sql("SELECT '-- text' AS a", "postgres") == "SELECT '-- text' AS a"
    assert strip_sql("  SELECT a::int FROM t ;; ", "postgres") == "SELECT a::int FROM t"


def test_tables_are_found_as_the_database_finds_them() -> None:
    sql = 'SELECT * FROM Orders o JOIN stock.products p ON true JOIN "Orders" x ON true'
    assert find_tables(sql, SHOP) == ("sales.orders", "stock.products")
    assert find_tables("SELECT 1 FROM unknown", SHOP) == ()
