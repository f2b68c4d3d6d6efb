"""The queries that answer questions about the database itself, and whose names win over them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nl2sql.catalog import Catalog
from nl2sql.sql.parsing import parse_one
from retrieval.search.catalog_questions import find_tables, read_request, write_query
from tests.fakes import SHOP
from tests.fakes.shop import build_table
from tests.retrieval.search.test_retriever import retrieve


def write(question: str, catalog: Catalog = SHOP) -> str:
    request = read_request(question)
    assert request is not None
    query = write_query(request, find_tables(request, catalog), catalog, ())
    return query.sql if query else ""


def add(*columns: str, name: str = "sales.halls") -> Catalog:
    return replace(SHOP, tables=(*SHOP.tables, build_table(name, *columns)))


def test_texts_of_the_schema_stay_texts() -> None:
    query = write("Show me all tables", add("id integer", name="sales.o'brien"))
    assert "('sales.\"o''brien\"', 1, '')" in query or "('\"o''brien\"', 1, '')" in query


@pytest.mark.parametrize(
    ("question", "catalog"),
    [
        pytest.param("Show me all tables", add("id integer", name="sales.tables"), id="a_table"),
        pytest.param("Show me all tables", add("table_number integer"), id="a_column"),
        pytest.param("Show me all tables", add(name="sales.dining_tables"), id="a_part_of_a_name"),
        pytest.param("How many columns does halls have?", add("columns integer"), id="its_column"),
        pytest.param("How many rows are in halls?", add("num_rows integer"), id="its_rows"),
        pytest.param("How many columns does the temple have?", SHOP, id="no_such_table"),
        pytest.param("What does the column height mean?", SHOP, id="no_such_column"),
        pytest.param("Which period does table customers cover?", SHOP, id="no_date"),
    ],
)
def test_a_name_of_the_schema_wins(question: str, catalog: Catalog) -> None:
    assert write(question, catalog) == ""


def test_a_name_elsewhere_does_not() -> None:
    """Rows of another table's column; a word that the question does not say."""
    assert write("How many rows are in orders?", add("num_rows integer"))
    assert write("How many rows are in orders?", add(name="sales.time_entries"))


def test_a_table_may_be_called_by_its_words() -> None:
    for said in ("order_lines", "the order lines", "sales.order_lines", "Order Line"):
        assert write(f"What columns does {said} have?").count("product_id") == 1


def test_large_databases_are_listed_as_far_as_the_guard_reads() -> None:
    columns = [f"size_{number} integer -- {'What it holds. ' * 9}" for number in range(60)]
    tables = [build_table(f"sales.part_{number:04}", *columns) for number in range(900)]
    large = Catalog("large", tuple(tables), search_path=("sales",))
    for question, shown, total in (
        ("Show me all tables", 350, "900 tables"),
        ("How big is the database?", 50, "900 tables"),
        ("What columns does part_0001 have?", 60, ""),
        ("Which tables have a column size_1?", 350, "900 columns"),
    ):
        request = read_request(question)
        assert request is not None
        query = write_query(request, find_tables(request, large), large, ())
        assert query is not None
        parse_one(query.sql, "postgres")
        assert query.note == (f"Only {shown} of {total} are listed." if total else "")


async def test_only_what_is_visible_is_listed() -> None:
    hidden = {"sales.customers", "sales.orders.status"}
    route, context = await retrieve("Show me all tables", hidden=hidden)
    assert route.modules == ()
    assert context.about is not None
    assert "'customers'" not in context.about.sql
    assert "'orders'" in context.about.sql
    _, context = await retrieve("What columns does orders have?", hidden=hidden)
    assert context.about is not None
    assert "status" not in context.about.sql
    _, context = await retrieve("What columns does customers have?", hidden=hidden)
    assert context.about is None


async def test_it_can_be_switched_off() -> None:
    _, context = await retrieve("Show me all tables", intent_gate=False)
    assert (context.about, len(context.tables) > 0) == (None, True)
