"""The language of a question, and the English words for those in another one."""

from __future__ import annotations

import json

import pytest

from nl2sql.expectations.expectations import read_expectations
from nl2sql.languages import LANGUAGES
from nl2sql.languages.detection import find_language
from nl2sql.languages.phrases import read_phrases, say_in_english
from tests.conftest import ROOT
from tests.fakes import build_question

DEMO = ROOT / "data" / "demo_erp"


def read_lines(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DEMO / name).read_text().splitlines()]


def test_the_demos_translated_questions_are_known_and_have_english_words() -> None:
    for entry in read_lines("translations.jsonl"):
        assert entry.keys() == {"id", *LANGUAGES} - {"en"}
        for language, question in entry.items():
            if language != "id":
                assert find_language(question) == language
                assert say_in_english(question)


@pytest.mark.parametrize("name", ["questions.jsonl", "business_questions.jsonl"])
def test_questions_in_english_stay_as_they_are(name: str) -> None:
    for entry in read_lines(name):
        question = build_question(text=entry["question"])
        assert question.search_text == entry["question"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Welche Lieferanten haben offene Rechnungen?", "invoice supplier open"),
        ("¿Cuántas devoluciones hubo por almacén?", "return warehouse"),
        ("Qual é o orçamento de cada projeto?", "budget project"),
        ("各仓库的库存是多少？", "stock warehouse"),  # noqa: RUF001
        ("كم عدد العقود لكل مورد؟", "contract supplier"),
        ("Was kostet die Welt?", ""),
    ],
)
def test_words_of_business(question: str, words: str) -> None:
    assert set(words.split()) <= set(say_in_english(question).split())
    assert bool(words) == bool(say_in_english(question))


def test_the_evidence_and_the_words_follow_the_question() -> None:
    question = build_question(text="Wie viele Kunden?", evidence="A is active")
    assert question.search_text == "Wie viele Kunden? A is active how many customer"


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Die drei besten Kunden nach Umsatz", 3),
        ("Quels sont les 5 clients les plus anciens ?", 5),
        ("¿Cuáles son los tres productos más caros?", 3),
        ("Quais são os dez produtos mais vendidos?", 10),
        ("Quali sono i due fornitori più vecchi?", 2),
        ("销售额最高的五个客户是哪些？", 5),  # noqa: RUF001
        ("売上の上位5の顧客を教えてください", 5),
        ("من هم العملاء الثلاثة الأعلى إنفاقًا؟", 3),
        ("Welche Kunden haben mehr als drei Aufträge?", None),
        ("¿Qué pedidos de 2024 son los más caros?", None),
        ("Zeige eine Liste der teuersten Produkte", None),
        ("Liste die 30 Produkte", None),
    ],
)
def test_a_number_is_a_limit_beside_a_superlative_alone(question: str, rows: int | None) -> None:
    assert read_expectations(build_question(text=question).english).rows == rows


@pytest.mark.parametrize(
    ("question", "comparison"),
    [
        ("Kunden mit mehr als drei Aufträgen", "more than three"),
        ("Fournisseurs avec au moins 1.500 commandes", "at least 1500"),
        ("Proveedores con menos de dos contratos", "less than two"),
        ("金额超过5000的发票", "more than 5000"),
        ("5000以上の請求書", "5000 or more"),
        ("عملاء لديهم أكثر من خمسة طلبات", "more than five"),
    ],
)
def test_comparisons_are_read_in_any_language(question: str, comparison: str) -> None:
    assert comparison in build_question(text=question).english


@pytest.mark.parametrize(
    ("question", "columns", "grouped", "descending"),
    [
        ("Wie viele Mitarbeiter haben wir?", (1,), False, None),
        ("Wie viele Mitarbeiter gibt es pro Abteilung?", (), True, None),
        ("Combien de factures par mois, par ordre décroissant ?", (), False, True),
        ("各部门有多少员工？从多到少", (), True, True),  # noqa: RUF001
        ("合同总金额是多少？", (), False, None),  # noqa: RUF001
    ],
)
def test_counts_groups_and_orders(
    question: str, columns: tuple[int, ...], grouped: bool, descending: bool | None
) -> None:
    found = read_expectations(build_question(text=question).english)
    assert (found.columns, found.grouped, found.descending) == (columns, grouped, descending)


def test_a_question_in_english_has_no_phrases_and_is_its_own_english() -> None:
    question = build_question(text="Which three customers spent most last year?")
    assert read_phrases(question.text) == ()
    assert question.english == question.text
