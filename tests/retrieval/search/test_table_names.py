"""Tables that a question names, and those that its business terms mean."""

from __future__ import annotations

import pytest

from retrieval.search.keywords import read_words
from retrieval.search.table_names import TableNames
from retrieval.vocabulary.terms import BusinessTerm
from tests.fakes import build_table


def build_names(*names: str) -> TableNames:
    return TableNames([build_table(name, "id integer") for name in names])


def test_a_table_is_named_if_all_words_of_its_name_occur() -> None:
    names = build_names("s.orders", "s.order_lines", "s.lines")
    found = names.find_named(read_words("Which lines has each order?"))
    assert found == {0: 1.0, 1: 1.0, 2: 1.0}
    assert names.find_named(read_words("orders")) == {0: 1.0}


def test_a_related_word_counts_less() -> None:
    found = build_names("s.vendors").find_named(read_words("Which suppliers are late?"))
    assert found == {0: 0.8}


def test_a_name_that_many_schemas_have_says_less() -> None:
    found = build_names("a.orders", "b.orders", "c.orders", "d.orders").find_named(
        read_words("orders")
    )
    assert found == dict.fromkeys(range(4), 0.5)


@pytest.mark.parametrize(
    ("name", "kind", "similarity"),
    [
        ("s.order_lines", ("order", "line"), 1.0),
        ("s.sales_order_lines", ("order", "line"), 2 / 3),
        # The schema has the missing word.
        ("sales.order_lines", ("sale", "order", "line"), 1.0),
        ("s.orders", ("order", "line"), 0.5),
        ("s.production_lines", ("order", "line"), 0.0),
        ("s.products", ("order", "line"), 0.0),
    ],
)
def test_kinds_are_compared_by_their_words(
    name: str, kind: tuple[str, ...], similarity: float
) -> None:
    term = BusinessTerm((("margin",),), (kind,))
    assert build_names(name).find_meant([term]).get(0, 0.0) == pytest.approx(0.8 * similarity)


def test_what_two_terms_mean_counts_more_than_what_one_means() -> None:
    names = build_names("s.orders", "s.customers")
    one = BusinessTerm((), (("order",), ("customer",)))
    two = BusinessTerm((), (("customer",),))
    first = names.find_meant([one])
    assert first[0] > first[1]
    both = names.find_meant([one, two])
    assert both[1] > both[0] == first[0]
