"""The gate: orders and small talk by rule, clear questions by score, doubtful ones pass."""
# ruff: noqa: RUF001

from __future__ import annotations

from dataclasses import replace

import pytest

from generation.conversation.intent_gate import check_intent
from generation.conversation.remarks import Remark, asks_to_change, read_remark, reply
from nl2sql.languages import LANGUAGES
from nl2sql.settings import FlagSettings
from nl2sql.types import Intent, Question, RetrievedTable, SchemaContext, ValueMatch
from tests.fakes import ORDERS, build_context, build_question
from tests.golden import load_cases
from tests.retrieval.semantics.files import GERMANS

SUNNY = build_question(text="Will it be sunny tomorrow?")
FRANCE = ValueMatch("France", "sales.customers", "country", "FR", 1.0)


def build_near(cosine: float | None, bm25_rank: int | None = None) -> SchemaContext:
    """All tables, as near as that."""
    context = build_context()
    tables = tuple(
        replace(hit, cosine=cosine, bm25_rank=bm25_rank, cosine_rank=None) for hit in context.tables
    )
    return replace(context, tables=tables, catalog_tables=6, modules=("sales", "stock"))


def rename_tables(context: SchemaContext, name: str) -> SchemaContext:
    tables = tuple(
        replace(hit, table=replace(hit.table, name=name, columns=())) for hit in context.tables
    )
    return replace(context, tables=tables)


def check(question: Question, context: SchemaContext, **flags: bool) -> Intent:
    return check_intent(question, context, FlagSettings(**flags))


FAR = build_near(0.1)
GLUED = rename_tables(FAR, "sbcustomer")


@pytest.mark.parametrize(
    ("text", "context", "code", "method"),
    [
        (SUNNY.text, build_near(0.5), "", "score"),
        (SUNNY.text, build_near(0.3), "", "score"),
        (SUNNY.text, build_near(0.2), "", "doubt"),
        (SUNNY.text, FAR, "off_topic", "score"),
        # Far, but something of it is known here.
        ("How many orders are open?", FAR, "", "doubt"),
        ("Who of those in the north had ordered nothing before?", FAR, "", "doubt"),
        ("Who earned the most ever?", FAR, "", "doubt"),
        ("How many custmoers live in Gent?", FAR, "", "doubt"),
        ("How many people joined in January 1990?", FAR, "", "doubt"),
        ("How many people live in France?", FAR, "off_topic", "score"),
        (SUNNY.text, replace(FAR, values=(FRANCE,)), "", "doubt"),
        (SUNNY.text, replace(FAR, definitions=(GERMANS,)), "", "doubt"),
        ("In which countries do most of the customers live?", GLUED, "", "doubt"),
        (SUNNY.text, GLUED, "off_topic", "score"),
        # The embedder knows English.
        ("Wie wird das Wetter morgen?", FAR, "", "doubt"),
        ("Good morning!", build_near(0.5), "small_talk", "rule"),
        ("Write a poem about orders.", build_near(0.4), "off_topic", "rule"),
        ("Give me an e-mail list of customers", build_near(0.4), "", "score"),
        ("??", build_near(0.4), "small_talk", "rule"),
        # Without vectors words decide.
        (SUNNY.text, build_near(None), "off_topic", "score"),
        (SUNNY.text, build_near(None, 1), "", "doubt"),
        (SUNNY.text, replace(build_near(None), definitions=(GERMANS,)), "", "doubt"),
        (SUNNY.text, SchemaContext(), "off_topic", ""),
    ],
)
def test_words_and_distance_decide(
    text: str, context: SchemaContext, code: str, method: str
) -> None:
    intent = check(build_question(text=text), context)
    assert (intent.code, intent.method) == (code, method)


def test_a_refusal_names_what_can_be_asked() -> None:
    intent = check(SUNNY, build_near(0.0))
    assert intent.reason == (
        "The question does not seem to be about this database, which holds data about sales, "
        "stock; for example customers, employees, order lines, orders, products and more. You "
        "could ask, for example: “Which product has the most order lines?” or “How many employees "
        "are there?”"
    )
    assert intent.suggestions == (
        "Which product has the most order lines?",
        "How many employees are there?",
    )


def test_a_refusal_names_nothing_but_what_was_found_for_the_principal() -> None:
    seen = (RetrievedTable(ORDERS, 0.1, cosine=0.0),)
    context = SchemaContext(seen, (), ("orders",), catalog_tables=1, modules=("sales",))
    reason = (check(SUNNY, context)).reason
    assert "orders" in reason
    assert not any(name in reason for name in ("customer", "employee", "product", "stock"))


def test_an_order_to_change_data_is_refused_before_anything_else() -> None:
    intent = check(build_question(text="Delete all orders."), build_near(0.9))
    assert (intent.code, intent.method) == ("read_only", "rule")
    assert intent.reason.startswith("Data can only be read here")
    assert intent.suggestions


def test_the_flag_opens_the_gate() -> None:
    for text in ("Delete all orders.", "Tell me a joke."):
        assert check(build_question(text=text), build_near(0.0), intent_gate=False) == Intent()


@pytest.mark.parametrize(("kind", "text"), load_cases("orders_to_change"))
def test_an_order_is_told_from_a_question(kind: str, text: str) -> None:
    assert asks_to_change(text) == (kind == "order")


@pytest.mark.parametrize("text", ["", "   ", "?", "would " * 800, "update all. " * 330])
def test_odd_texts_are_read_in_no_time(text: str) -> None:
    assert not asks_to_change(text)


REMARKS = {
    "en": ("Hi there!", "Thanks a lot!", "Bye", "What can you help me with?"),
    "de": ("Guten Tag", "Vielen Dank!", "Tschüss", "Was kann ich hier fragen?"),
    "fr": ("Bonjour !", "Merci beaucoup", "Au revoir", "Que puis-je demander ?"),
    "es": ("¡Hola!", "Muchas gracias", "Hasta luego", "¿Qué puedo preguntar?"),
    "pt": ("Bom dia!", "Muito obrigado", "Até logo", "O que posso perguntar?"),
    "it": ("Ciao!", "Grazie mille", "Arrivederci", "Cosa posso chiedere?"),
    "zh": ("你好！", "谢谢", "再见", "我可以问什么？"),
    "ja": ("こんにちは", "ありがとうございます", "さようなら", "何を質問できますか？"),
    "ar": ("مرحبا!", "شكرا جزيلا", "وداعا", "ماذا يمكنني أن أسأل؟"),
}
KINDS = ("greeting", "thanks", "farewell", "help")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language(language: str) -> None:
    for kind, text in zip(KINDS, REMARKS[language], strict=True):
        remark = read_remark(text)
        assert remark is not None, text
        assert remark.kind == kind
        # "Ciao" and "Hola" are said elsewhere too, with the same meaning.
        assert remark.language == language
        assert "{" not in reply(remark, "orders", ("How many orders?",))
    helped = reply(Remark("help", LANGUAGES[0]), "orders, staff", ("How many orders?",))
    assert "orders, staff" in helped
    assert "“How many orders?”" in helped


@pytest.mark.parametrize("text", [text for _, text in load_cases("data_questions")])
def test_questions_about_data_are_none(text: str) -> None:
    assert read_remark(text) is None


def test_the_gate_replies_however_near_a_table_is() -> None:
    intent = check(build_question(text="Was kann ich hier fragen?"), build_context())
    assert (intent.code, intent.method) == ("small_talk", "rule")
    assert intent.reason.startswith("Fragen Sie")
    assert intent.suggestions
