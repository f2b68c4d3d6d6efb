"""Which questions are about the database itself: whole forms in nine languages."""
# ruff: noqa: RUF001

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrieval.search.catalog_questions import read_request
from tests.conftest import ROOT

BENCH = os.environ.get("QUORUMSQL_BENCH", "")

FORMS = {
    "tables": [
        "Show me all tables",
        "please list the tables in this database!",
        "What tables are there?",
        "How many tables do you have?",
        "Zeig mir bitte alle Tabellen",
        "Welche Tabellen gibt es in der Datenbank?",
        "Montre-moi toutes les tables",
        "Quelles tables y a-t-il ?",
        "Muéstrame todas las tablas",
        "¿Qué tablas hay en la base de datos?",
        "Mostre todas as tabelas",
        "Quais tabelas existem?",
        "Mostrami tutte le tabelle",
        "Quali tabelle ci sono nel database?",
        "显示所有表",
        "数据库里有哪些表？",
        "テーブルをすべて見せて",
        "どんなテーブルがありますか？",
        "اعرض جميع الجداول",
        "ما هي الجداول الموجودة في قاعدة البيانات؟",
    ],
    "columns": [
        "What columns does orders have?",
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
    "period": [
        "Which period does the data cover?",
        "How far back does the data go?",
        "Welchen Zeitraum decken die Daten ab?",
        "Quelle période couvrent les données ?",
        "¿Qué periodo cubren los datos?",
        "Que período os dados cobrem?",
        "Che periodo coprono i dati?",
        "数据涵盖哪个时间段？",
        "データはいつからいつまでですか？",
        "ما الفترة التي تغطيها البيانات؟",
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
        "What is the period of each comet?",
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
