"""Tables are found by parts of names and texts, page by page."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nl2sql.catalog import Column, Table
from nl2sql.errors import InvalidRequest
from retrieval.cursors import write_cursor
from retrieval.search.table_search import FoundTables, TableSearch
from tests.fakes import SHOP, build_table


def build(*tables: Table) -> TableSearch:
    return TableSearch(tables, [""] * len(tables))


def find(search: str, *tables: Table) -> list[str]:
    tables = tables or SHOP.tables
    found = build(*tables).find(search, "", 100)
    assert found.total == len(found.positions)
    assert found.next == ""
    return [tables[at].qualified for at in found.positions]


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        # The name itself, names that begin so, other names, then columns and comments.
        ("orders", ["sales.orders", "sales.order_lines", "sales.customers", "stock.returns"]),
        ("ORDER LINES", ["sales.order_lines", "stock.returns"]),
        ("order_lines", ["sales.order_lines"]),
        ("sales.orders", ["sales.orders", "sales.order_lines"]),
        ("loyalty", ["sales.customers"]),
        ("people", ["sales.customers"]),
        ("euros", ["sales.orders"]),
        ("stock reason", ["stock.returns"]),
        ("nothing of it", []),
    ],
)
def test_all_words_must_occur(search: str, expected: list[str]) -> None:
    comment = "They place orders"
    tables = [
        build_table("sales.customers", *_columns("sales.customers"), comment=f"People. {comment}")
        if table.name == "customers"
        else table
        for table in SHOP.tables
    ]
    assert find(search, *tables) == expected


def _columns(name: str) -> list[str]:
    table = SHOP.table(name)
    assert table is not None
    return [f"{column.name} {column.type}" for column in table.columns]


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("%", ["s.100%"]),
        ("_", ["s.a_b"]),
        ("a_b", ["s.a_b"]),
        ("\\", ["s.back\\slash"]),
        ("'", ["s.o'neill"]),
        ("größe", ["s.Größe"]),
        ("GROSSE", ["s.Größe"]),
        ("訂", ["s.訂單"]),
        ("[a-z]*", []),
        (".", ["s.100%", "s.Größe", "s.a_b", "s.axb", "s.back\\slash", "s.o'neill", "s.訂單"]),
        ("\ud800", []),
        ("\0", []),
        ("\u202eb_a", []),
    ],
)
def test_every_character_stands_for_itself(search: str, expected: list[str]) -> None:
    names = ["100%", "a_b", "axb", "back\\slash", "o'neill", "Größe", "訂單"]
    assert find(search, *(Table("s", name, (Column("n", "int"),)) for name in names)) == expected


@pytest.mark.parametrize("search", ["", "t", "id"])
@pytest.mark.parametrize("most", [1, 2, 3, 7, 50])
def test_pages_together_are_the_whole(search: str, most: int) -> None:
    tables = [
        Table("s", f"{first}{second}", (Column("id", "int"),)) for first in "xt" for second in "tab"
    ]
    whole = [tables[at].name for at in build(*tables).find(search, "", 100).positions]
    pages = read_pages(build(*tables), tables, search, most)
    assert [name for page in pages for name in page] == whole
    assert all(len(page) == most for page in pages[:-1])
    assert len(whole) == 6 or search == "t"


def read_pages(
    search: TableSearch, tables: Sequence[Table], text: str, most: int
) -> list[list[str]]:
    pages, after = [], ""
    while True:
        found: FoundTables = search.find(text, after, most)
        pages.append([tables[at].name for at in found.positions])
        after = found.next
        if not after:
            return pages


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "====",
        "né",
        write_cursor(-1),
        write_cursor(1, "s"),
        "W" * 9999,
    ],
)
def test_a_cursor_of_another_origin_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        build(*SHOP.tables).find("", cursor, 5)
    assert caught.value.field == "after"
