"""Which questions are about the database itself, and the queries that answer them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from nl2sql.catalog import Catalog
from nl2sql.sql.parsing import parse_one
from retrieval.search.catalog_questions import find_tables, read_request, write_query
from tests.conftest import ROOT
from tests.fakes import SHOP
from tests.fakes.shop import build_table
from tests.golden import load_cases
from tests.retrieval.test_retriever import retrieve

BENCH = os.environ.get("QUORUMSQL_BENCH", "")


@pytest.mark.parametrize(
    ("kind", "question"), [*load_cases("catalog_questions"), ("none", "show " * 100)]
)
def test_forms(kind: str, question: str) -> None:
    request = read_request(question)
    assert (request.kind if request else "none") == kind
    if request and "orders" in question:
        assert request.table.endswith("orders")
    if request and "status" in question:
        assert request.column == "status"


def list_questions(folder: Path) -> Iterator[tuple[str, bool]]:
    """Each question, and whether its entry says that the catalog answers it."""
    for path in sorted((*folder.rglob("*.json"), *folder.rglob("*.jsonl"))):
        text = path.read_text(encoding="utf-8")
        entries: Any = (
            [json.loads(line) for line in text.splitlines() if line.strip()]
            if path.suffix == ".jsonl"
            else json.loads(text)
        )
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("question"), str):
                yield entry["question"], entry.get("outcome") == "catalog"


def test_of_the_benchmarks_questions_only_those_to_the_catalog_are_some() -> None:
    """The packaged ones; those of ``QUORUMSQL_BENCH`` too, where it is set."""
    folders = [ROOT / "data", *([Path(BENCH)] if BENCH else [])]
    questions = [entry for folder in folders for entry in list_questions(folder)]
    assert len(questions) > 150
    assert [text for text, is_one in questions if bool(read_request(text)) != is_one] == []


def write(question: str, catalog: Catalog = SHOP) -> str:
    request = read_request(question)
    assert request is not None
    query = write_query(request, find_tables(request, catalog), catalog, ())
    return query.sql if query else ""


def add(*columns: str, name: str = "sales.halls") -> Catalog:
    return replace(SHOP, tables=(*SHOP.tables, build_table(name, *columns)))


@pytest.mark.parametrize(
    ("question", "catalog"),
    [
        ("Show me all tables", add("id integer", name="sales.tables")),
        ("Show me all tables", add("table_number integer")),
        ("Show me all tables", add(name="sales.dining_tables")),
        ("How many columns does halls have?", add("columns integer")),
        ("How many rows are in halls?", add("num_rows integer")),
        ("How many columns does the temple have?", SHOP),
        ("What does the column height mean?", SHOP),
    ],
)
def test_a_name_of_the_schema_wins(question: str, catalog: Catalog) -> None:
    assert write(question, catalog) == ""


def test_a_table_may_be_called_by_its_words() -> None:
    for said in ("order_lines", "the order lines", "sales.order_lines", "Order Line"):
        assert write(f"What columns does {said} have?").count("product_id") == 1


def test_all_columns_are_counted() -> None:
    count = sum(len(table.columns) for table in SHOP.tables)
    for question in ("How many columns does the whole database have?", "How many fields?"):
        assert write(question) == f'SELECT {count} AS "columns"'


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
    tables = [build_table(f"sales.{'x' * 55}_{number:04}", "id integer") for number in range(400)]
    listed = write("Show me all tables", Catalog("long", tuple(tables), search_path=("sales",)))
    values = parse_one(listed, "postgres").find(exp.Values)
    assert values is not None
    assert 200 < len(values.expressions) < 350


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
