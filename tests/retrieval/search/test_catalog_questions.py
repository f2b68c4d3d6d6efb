"""Which questions are about the database itself, and the queries that answer them."""
# ruff: noqa: RUF001

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nl2sql.catalog import Catalog
from nl2sql.sql.parsing import parse_one
from retrieval.search.catalog_questions import find_tables, read_request, write_query
from tests.conftest import ROOT
from tests.fakes import SHOP
from tests.fakes.shop import build_table
from tests.retrieval.test_retriever import retrieve

BENCH = os.environ.get("QUORUMSQL_BENCH", "")

FORMS = {
    "tables": [
        "Show me all tables",
        "please list the tables in this database!",
        "How many tables do you have?",
        "Zeig mir bitte alle Tabellen",
        "Montre-moi toutes les tables",
        "Muéstrame todas las tablas",
        "Mostre todas as tabelas",
        "Mostrami tutte le tabelle",
        "显示所有表",
        "テーブルをすべて見せて",
        "اعرض جميع الجداول",
    ],
    "columns": [
        "What columns does orders have?",
        "What columns does orders have and what do they mean?",
        "describe the table orders",
        "Welche Spalten hat die Tabelle orders?",
        "Quelles sont les colonnes de la table orders ?",
        "¿Qué columnas tiene la tabla orders?",
        "Que colunas tem a tabela orders?",
        "Quali colonne ha la tabella orders?",
        "orders 表有哪些列？",
        "orders テーブルにはどんな列がありますか？",
        "ما هي أعمدة جدول orders؟",
    ],
    "column": [
        "What does the column orders.status mean?",
        "Was bedeutet die Spalte status in orders?",
        "Que signifie la colonne status de orders ?",
        "¿Qué significa la columna orders.status?",
        "O que significa a coluna orders.status?",
        "Cosa significa la colonna orders.status?",
        "列 orders.status 是什么意思？",
        "列 orders.status は何ですか？",
        "ما معنى العمود orders.status؟",
    ],
    "rows": [
        "How many rows are in orders?",
        "Wie viele Zeilen hat die Tabelle orders?",
        "Combien de lignes contient la table orders ?",
        "¿Cuántas filas tiene la tabla orders?",
        "Quantas linhas tem a tabela orders?",
        "Quante righe ha la tabella orders?",
        "orders 表有多少行？",
        "orders テーブルは何行ありますか？",
        "كم عدد الصفوف في جدول orders؟",
    ],
}


@pytest.mark.parametrize(
    ("kind", "question"), [(kind, text) for kind, texts in FORMS.items() for text in texts]
)
def test_forms(kind: str, question: str) -> None:
    request = read_request(question)
    assert request is not None
    assert request.kind == kind
    if "orders" in question:
        assert request.table.endswith("orders")
    if "status" in question:
        assert request.column == "status"


@pytest.mark.parametrize(
    "question",
    [
        "Show me all tables in the restaurant's dining room",
        "Which tables are free tonight?",
        "What are the tables with the most reservations?",
        "How many rows of seats are in the theatre?",
        "How many records did the artist sell?",
        "Which period does the data cover?",
        "Welche Tabellen sind für vier Personen reserviert?",
        "Show me all columns with a balcony",
        "How many employees are there?",
        "有哪些表现最好的产品？",
        "show " * 100,
    ],
)
def test_other_questions(question: str) -> None:
    assert read_request(question) is None


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
