"""Each rule of the glosses, and what a glossary tells of tables."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nl2sql.catalog import Catalog, Column
from retrieval.glosses import IndexedGlossary, build_glosses, find_mark, render_enumeration
from retrieval.index_store.value_store import ValueColumn
from retrieval.vocabulary.terms import Synonyms, expand_name
from tests.fakes import (
    ORDERS,
    PRODUCTS,
    SHOP,
    FakeIndexStore,
    FakeVisibility,
    build_question,
    build_table,
)
from tests.golden import load_cases
from tests.retrieval.values.builders import FakeMemory


@pytest.mark.parametrize(("mark", "column"), load_cases("column_marks"))
def test_kinds(mark: str, column: str) -> None:
    name, _, declared = column.partition(" ")
    assert find_mark(Column(name, declared), "postgres") == mark


def test_keys_come_before_kinds() -> None:
    assert find_mark(Column("no", "integer"), "postgres", is_key=True) == "[ID]"
    assert find_mark(Column("order_id", "integer"), "postgres", target="orders") == "[FK→orders]"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cust_no", "customer number"),
        ("acctBal", "account balance"),
        ("PO_HDR", "purchase order header"),
        ("dept_mgr", "department manager"),
        ("no_show", "no show"),
        ("orders", "order"),
    ],
)
def test_abbreviations(name: str, words: str) -> None:
    assert expand_name(name) == words


@pytest.mark.parametrize(
    ("values", "comment", "text"),
    [
        (("a", "b"), "", "values: 'a', 'b'"),
        (("a\nb",), "", "values: 'a b'"),
        (("ACT", "LOA"), "ACT = active, LOA = away", ""),
        (tuple(str(n) for n in range(13)), "", ""),
        (("x" * 201,), "", ""),
        ((), "", ""),
    ],
)
def test_enumerations(values: tuple[str, ...], comment: str, text: str) -> None:
    assert render_enumeration(values, comment) == text


CATALOG = Catalog("d", (build_table("s.cust", "cust_no text", "name text", "plan_qty integer"),))


def test_the_index_gets_words_only_where_there_are_others() -> None:
    synonyms = Synonyms(tables={"s.cust": ("patron",)}, columns={"s.cust.name": ("who",)})
    assert build_glosses(CATALOG, synonyms) == {
        "s.cust": "customer, patron",
        "s.cust.cust_no": "customer number",
        "s.cust.name": "who",
        "s.cust.plan_qty": "plan quantity",
    }


CATEGORY = ValueColumn("stock.products", "category", ("Bikes", "Tyres"))
STATUS = ValueColumn("sales.orders", "status", ("open", "shipped", "cancelled"))


def build_glossary(opened: Sequence[str] | None = None) -> IndexedGlossary:
    return IndexedGlossary(
        FakeMemory(CATEGORY, STATUS),
        FakeVisibility(FakeIndexStore(), open_columns=opened),
        {"shop": Synonyms(columns={"sales.orders.total": ("worth",)})},
    )


async def test_columns_are_described_by_kind_synonyms_and_values() -> None:
    described = await build_glossary().describe(build_question(), [ORDERS, PRODUCTS], SHOP)
    assert described == (
        ("sales.orders.id", "[ID]"),
        ("sales.orders.customer_id", "[FK→customers]"),
        ("sales.orders.total", "also called worth"),
        ("stock.products.id", "[ID]"),
        ("stock.products.category", "values: 'Bikes', 'Tyres'"),
        ("stock.products.price", "[AMT]"),
    )


async def test_values_are_told_only_of_open_columns() -> None:
    glossary = build_glossary(opened=["sales.orders.status"])
    described = dict(await glossary.describe(build_question(), [PRODUCTS], SHOP))
    assert "Bikes" not in str(described)
