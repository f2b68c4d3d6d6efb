"""Greetings, thanks and "what can I ask?" in nine languages, and what is said to them."""
# ruff: noqa: RUF001

from __future__ import annotations

import pytest

from generation.conversation.intent_gate import IntentGate
from generation.conversation.small_talk import Remark, read_remark, reply
from nl2sql.languages import LANGUAGES
from tests.fakes import FakeEngine, build_context, build_question, build_settings

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


@pytest.mark.parametrize(
    "text",
    [
        "Hi, how many orders?",
        "Thanks, and last year?",
        "Help desk tickets by month",
        "What can customers return?",
        "How does this work order progress?",
        "Hallo, wie viele Kunden haben wir?",
        "谢谢卡有多少张？",
    ],
)
def test_questions_about_data_are_none(text: str) -> None:
    assert read_remark(text) is None


async def test_the_gate_replies_however_near_a_table_is() -> None:
    engine = FakeEngine()
    gate = IntentGate(engine, build_settings())
    intent = await gate.check(build_question(text="Was kann ich hier fragen?"), build_context())
    assert (intent.code, intent.method) == ("small_talk", "rule")
    assert intent.reason.startswith("Fragen Sie")
    assert intent.suggestions
    assert engine.requests == []
