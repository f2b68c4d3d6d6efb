"""Names in a first draft of the query."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.search.keywords import DraftNames, read_draft
from tests.fakes import SHOP


@pytest.mark.parametrize(
    ("draft", "tables"),
    [
        ("SELECT id FROM orders", ("sales.orders",)),
        ("SELECT 1 FROM stock.products AS p JOIN orders o ON o.id = p.id",
         ("stock.products", "sales.orders")),
        ("WITH x AS (SELECT 1 FROM returns) SELECT * FROM x", ("stock.returns",)),
        ("SELECT 1 FROM invented", ()),
        ("this is no SQL (", ()),
        ("", ()),
    ],
)  # fmt: skip
def test_tables_that_exist_are_found(draft: str, tables: tuple[str, ...]) -> None:
    assert set(read_draft(draft, SHOP).tables) == set(tables)


def test_columns_are_words_to_search_for() -> None:
    words = read_draft("SELECT reason FROM returns WHERE line_no > 1", SHOP).words.split()
    assert set(words) == {"returns", "reason", "line_no"}


def test_outside_the_search_path_what_search_found_first_is_meant() -> None:
    elsewhere = replace(SHOP, search_path=("public",))
    draft = "SELECT 1 FROM products"
    assert read_draft(draft, elsewhere).tables == ()
    found = read_draft(draft, elsewhere, ["sales.orders", "stock.products"])
    assert found == DraftNames(("stock.products",), "products")
