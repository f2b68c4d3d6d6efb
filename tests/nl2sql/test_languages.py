"""The language of a question, and the English words for those in another one."""

from __future__ import annotations

import json

import pytest

from nl2sql.languages import LANGUAGES
from nl2sql.languages.detection import find_language
from nl2sql.languages.phrases import say_in_english
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
