"""Which values of a question are told."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from nl2sql.types import ValueMatch
from retrieval.index_store.value_store import ValueColumn
from retrieval.values.dictionary import ValueDictionary
from retrieval.values.phrases import find_phrases, fold_words
from retrieval.values.selection import choose_shown, find_values, select_values
from tests.fakes import ORDERS, PRODUCTS
from tests.golden import load_cases

COLUMNS = [
    ValueColumn("crm.customers", "country", ("Germany", "Italy", "US"), {"de": "Germany"}),
    ValueColumn("crm.customers", "city", ("York", "New York", "Bergen")),
    ValueColumn("crm.customers", "state", ("Oregon",), {"or": "Oregon"}),
    ValueColumn("sales.orders", "status", ("CXL", "OPN", "On Hold"), {"cancelled": "CXL"}),
    ValueColumn("sales.orders", "kind", ("order", "offer", "Name", "2024")),
    ValueColumn("hr.departments", "name", ("IT", "Sales", "Women's Wear")),
    ValueColumn("hr.employees", "last_name", ("Pearson", "Persson")),
]
DICTIONARY = ValueDictionary(COLUMNS)


def match(text: str, schema_words: Collection[str] = ()) -> tuple[ValueMatch, ...]:
    found = find_values(DICTIONARY, find_phrases(text), lambda _: True, lambda _: True)
    return select_values(found, schema_words, fold_words(text), 8)


@pytest.mark.parametrize(("value", "text"), [*load_cases("named_values"), ("", "")])
def test_the_words_that_name_a_value(value: str, text: str) -> None:
    assert [match.value for match in match(text)] == ([value] if value else [])


def test_a_value_called_like_a_table_counts_less() -> None:
    assert [match.score for match in match("how many Offers")] == [1.0]
    assert [match.score for match in match("how many offers", {"offer"})] == [0.7]
    assert [match.score for match in match("how many Offers", {"offer"})] == [0.8]
    assert [match.score for match in match("of kind 'offer'", {"offer"})] == [1.0]


def test_a_word_nearer_to_a_name_than_to_a_value_is_the_name() -> None:
    assert [match.value for match in match("cuantos Germanys", {"customer"})] == ["Germany"]
    assert match("cuantos Germanas", {"germana", "customer"}) == ()
    assert [match.value for match in match("which were cancelled", {"cancel"})] == ["CXL"]


def test_it_is_left_out_where_the_tables_shown_are_called_so() -> None:
    weak = ValueMatch("customers", "sales.orders", "status", "customer", 0.7)
    sure = ValueMatch("cancelled", "sales.orders", "status", "CXL", 0.92)
    elsewhere = ValueMatch("Tyres", "stock.products", "category", "Tyres", 1.0)
    found = (elsewhere, sure, weak)
    assert choose_shown(found, [ORDERS], 8) == (sure,)
    assert choose_shown(found, [ORDERS, PRODUCTS], 1) == (elsewhere,)
    other = ValueMatch("dogs", "sales.orders", "status", "dog", 0.7)
    assert choose_shown((other,), [ORDERS], 8) == (other,)


def test_a_single_word_begins_a_value_only_as_a_name() -> None:
    column = ValueColumn("s.shops", "name", ("Acme Corporation",))
    for text, values in (("shops of Acme", ["Acme Corporation"]), ("shops of acme", [])):
        found = find_values(
            ValueDictionary([column]), find_phrases(text), lambda _: True, lambda _: True
        )
        assert [value.value for value in select_values(found, (), (), 8)] == values


def test_of_equal_matches_the_one_whose_column_is_named_comes_first() -> None:
    columns = [
        ValueColumn("s.shops", "town", ("Bergen",)),
        ValueColumn("s.suppliers", "city", ("Bergen",)),
    ]
    question = "suppliers from the city of Bergen"
    found = find_values(
        ValueDictionary(columns), find_phrases(question), lambda _: True, lambda _: True
    )
    best = select_values(found, (), fold_words(question), 8)[0]
    assert best.table == "s.suppliers"
