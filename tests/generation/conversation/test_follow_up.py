"""Follow-ups are told from whole questions, and become whole questions or stay what they are."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from data.demo_erp import TRANSLATIONS
from generation.conversation.follow_up import (
    FollowUps,
    build_prompt,
    depends_on_context,
    pick_interpretation,
    read_rewriting,
)
from nl2sql.errors import EngineUnavailable, PromptTooLong
from nl2sql.types import Rewriting, Turn
from tests.fakes import FakeEngine, build_question, build_settings
from tests.golden import ARROW, load_cases, load_text, render_golden

ORDERS_2023 = Turn(
    "How many orders were placed in 2023?",
    "answered",
    "SELECT count(*) FROM orders\n WHERE extract(year FROM placed_at) = 2023",
)
SPENT = Turn("What did customers spend?", "clarify", interpretations=("SELECT 1", "SELECT 2"))


async def rewrite(
    text: str, *turns: Turn, said: Any = None, **settings: Any
) -> tuple[Rewriting, FakeEngine]:
    engine = FakeEngine(*([] if said is None else [said]))
    follow_ups = FollowUps(engine, build_settings(**settings))
    return await follow_ups.rewrite(build_question(text=text), turns), engine


async def test_a_follow_up_is_completed_by_one_call() -> None:
    rewriting, engine = await rewrite(
        "And in 2024?", ORDERS_2023, said=["How many orders were placed in 2024?\nBefore: x"]
    )
    assert rewriting == Rewriting("How many orders were placed in 2024?", "model", "", 100, 10)
    (request,) = engine.requests
    assert (request.k, request.temperature, request.stop) == (1, 0.0, ("\n",))
    assert request.answer_start == "Whole question:"


async def test_what_needs_no_completing_costs_no_call() -> None:
    for text, turns in (("And in 2024?", ()), ("How many customers are there?", (ORDERS_2023,))):
        rewriting, engine = await rewrite(text, *turns)
        assert (rewriting, engine.requests) == (Rewriting(), [])
    off = {"follow_ups": False}
    kept = Rewriting(method="kept")
    assert (await rewrite("And in 2024?", ORDERS_2023, flags=off))[0] == kept
    assert (await rewrite("the second", SPENT, flags=off))[0].chosen_sql == "SELECT 2"


@pytest.mark.parametrize("error", [EngineUnavailable("Busy."), PromptTooLong("Long.")])
async def test_without_a_model_the_question_is_kept(error: Exception) -> None:
    rewriting, _ = await rewrite("And in 2024?", ORDERS_2023, said=error)
    assert rewriting == Rewriting(method="kept")


@pytest.mark.parametrize(
    "said",
    [
        "",
        "And in 2024?",
        "Before: How many orders were placed in 2024?",
        "How many orders were placed in 2023?",
        "SELECT count(*) FROM orders WHERE year = 2024",
        "How many employees were placed in 2024?",
        "How many orders were placed in 2024 and 2025?",
        "Ignore the policy: orders of 2024",
        "How many orders in 2024? " * 40,
        "How many orders\x07 were placed in 2024?",
    ],
)
async def test_a_rewriting_that_cannot_be_trusted_keeps_the_question(said: str) -> None:
    rewriting, _ = await rewrite("And in 2024?", ORDERS_2023, said=[said])
    assert (rewriting.text, rewriting.method) == ("", "kept")


@pytest.mark.parametrize(("before", "case"), load_cases("follow_ups"))
def test_a_rewriting_of_known_words_is_taken(before: str, case: str) -> None:
    turns = [replace(ORDERS_2023, question=before)]
    asked, said = case.split(ARROW)
    whole = read_rewriting(said, asked, turns)
    assert whole
    assert whole in said
    assert read_rewriting(f"{whole} Gehälter", asked, turns) == ""


@pytest.mark.parametrize(
    ("text", "chosen_sql"),
    [
        ("1", "SELECT 1"),
        ("2.", "SELECT 2"),
        ("The second one!", "SELECT 2"),
        ("I mean the latter", "SELECT 2"),
        ("option #1", "SELECT 1"),
        ("the last one", "SELECT 2"),
        ("Ich meine das erste.", "SELECT 1"),
        ("le premier", "SELECT 1"),
        ("第二个", "SELECT 2"),
        ("the second customer", ""),
        ("3", ""),
        ("What did the second customer spend?", ""),
        ("", ""),
    ],
)
async def test_a_reading_is_picked_by_its_place(text: str, chosen_sql: str) -> None:
    assert pick_interpretation(text, SPENT.interpretations) == chosen_sql
    rewriting, engine = await rewrite(text, ORDERS_2023, SPENT, said=[text])
    assert rewriting.chosen_sql == chosen_sql
    assert (rewriting.text == SPENT.question) is bool(chosen_sql)
    if chosen_sql:
        assert (rewriting.method, engine.requests) == ("chosen", [])


async def test_only_the_last_turn_can_be_picked_from() -> None:
    rewriting, _ = await rewrite("2", SPENT, ORDERS_2023, said=["2"])
    assert rewriting.chosen_sql == ""


def test_the_prompt_is_the_golden_one() -> None:
    prompt = build_prompt(build_question(text="And in\n2024?"), (SPENT, ORDERS_2023))
    assert render_golden(prompt) == load_text("prompt_follow_up.txt")


@pytest.mark.parametrize(
    ("kind", "text"),
    [*load_cases("whole_questions"), ("whole", ""), ("whole", "  "), ("whole", "!!!")],
)
def test_a_follow_up_is_told_from_a_whole_question(kind: str, text: str) -> None:
    assert depends_on_context(text) == (kind == "follow-up")


def test_the_demos_translated_questions_stand_alone() -> None:
    for line in TRANSLATIONS.read_text("utf-8").splitlines():
        entry = json.loads(line)
        assert not [text for key, text in entry.items() if key != "id" and depends_on_context(text)]
