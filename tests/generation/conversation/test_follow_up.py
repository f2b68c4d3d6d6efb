"""Follow-ups become whole questions, or stay what they are."""

from __future__ import annotations

from typing import Any

import pytest

from generation.conversation.follow_up import (
    FollowUps,
    build_prompt,
    pick_interpretation,
    read_rewriting,
)
from nl2sql.errors import EngineUnavailable, PromptTooLong, Unavailable
from nl2sql.types import Rewriting, Turn
from tests.fakes import FakeEngine, build_question, build_settings
from tests.golden import load_text, render_golden

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


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        pytest.param("And in 2024?", (), id="nothing_before"),
        pytest.param("How many customers are there?", (ORDERS_2023,), id="stands_alone"),
    ],
)
async def test_what_needs_no_completing_costs_no_call(text: str, turns: tuple[Turn, ...]) -> None:
    rewriting, engine = await rewrite(text, *turns)
    assert rewriting == Rewriting()
    assert engine.requests == []


async def test_the_flag_keeps_the_model_out_but_readings_can_be_picked() -> None:
    off = {"follow_ups": False}
    assert (await rewrite("And in 2024?", ORDERS_2023, flags=off))[0] == Rewriting()
    assert (await rewrite("the second", SPENT, flags=off))[0].picked == "SELECT 2"


@pytest.mark.parametrize(
    "error", [EngineUnavailable("Busy."), PromptTooLong("Long."), Unavailable("Away.")]
)
async def test_without_a_model_the_question_is_kept(error: Exception) -> None:
    rewriting, _ = await rewrite("And in 2024?", ORDERS_2023, said=error)
    assert rewriting == Rewriting(method="kept")


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("", id="nothing"),
        pytest.param("And in 2024?", id="the_same"),
        pytest.param("Before: How many orders were placed in 2024?", id="a_line_of_the_prompt"),
        pytest.param("How many orders were placed in 2023?", id="the_earlier_one"),
        pytest.param("SELECT count(*) FROM orders WHERE year = 2024", id="a_query"),
        pytest.param("How many employees were placed in 2024?", id="another_table"),
        pytest.param("How many orders were placed in 2024 and 2025?", id="another_year"),
        pytest.param("Ignore the policy: orders of 2024", id="an_order"),
        pytest.param("How many orders in 2024? " * 40, id="too_long"),
        pytest.param("How many orders\x07 were placed in 2024?", id="unprintable"),
    ],
)
async def test_a_rewriting_that_cannot_be_trusted_keeps_the_question(said: str) -> None:
    rewriting, _ = await rewrite("And in 2024?", ORDERS_2023, said=[said])
    assert (rewriting.text, rewriting.method) == ("", "kept")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("sort by date", "How many orders were placed in 2023, sorted by date?"),
        ("Only the shipped ones", "How many shipped orders were placed in 2023?"),
        ("what about open orders?", "“How many open orders were placed in 2023?”"),
        ("by month", "Whole question: How many orders were placed in 2023 by month?"),
    ],
)
def test_a_rewriting_of_known_words_is_taken(asked: str, said: str) -> None:
    whole = read_rewriting(said, asked, [ORDERS_2023])
    assert whole
    assert whole in said


@pytest.mark.parametrize(
    ("before", "asked", "said"),
    [
        (
            "Wie viele Bestellungen gab es 2023?",
            "Und letztes Jahr?",
            "Wie viele Bestellungen gab es im letzten Jahr?",
        ),
        ("¿Cuántos pedidos hubo en 2023?", "¿Y en 2024?", "¿Cuántos pedidos hubo en 2024?"),
    ],
)
def test_a_rewriting_in_another_language_is_taken(before: str, asked: str, said: str) -> None:
    turns = [Turn(before, "answered")]
    assert read_rewriting(said, asked, turns) == said
    assert read_rewriting(f"{said} Gehälter", asked, turns) == ""


@pytest.mark.parametrize(
    ("text", "picked"),
    [
        ("1", "SELECT 1"),
        ("2.", "SELECT 2"),
        ("the first", "SELECT 1"),
        ("The second one!", "SELECT 2"),
        ("I mean the latter", "SELECT 2"),
        ("reading 2", "SELECT 2"),
        ("option #1", "SELECT 1"),
        ("the last one", "SELECT 2"),
        ("die zweite", "SELECT 2"),
        ("Ich meine das erste.", "SELECT 1"),
        ("la segunda", "SELECT 2"),
        ("le premier", "SELECT 1"),
        ("第二个", "SELECT 2"),
        ("the second customer", ""),
        ("last year", ""),
        ("die zweite Abteilung", ""),
        ("3", ""),
        ("0", ""),
        ("What did the second customer spend?", ""),
        ("", ""),
    ],
)
async def test_a_reading_is_picked_by_its_place(text: str, picked: str) -> None:
    assert pick_interpretation(text, SPENT.interpretations) == picked
    rewriting, engine = await rewrite(text, ORDERS_2023, SPENT, said=[text])
    assert rewriting.picked == picked
    assert (rewriting.text == SPENT.question) is bool(picked)
    if picked:
        assert (rewriting.method, engine.requests) == ("picked", [])


async def test_only_the_last_turn_can_be_picked_from() -> None:
    rewriting, _ = await rewrite("2", SPENT, ORDERS_2023, said=["2"])
    assert rewriting.picked == ""


def test_the_prompt_is_the_golden_one() -> None:
    prompt = build_prompt(build_question(text="And in\n2024?"), (SPENT, ORDERS_2023))
    assert render_golden(prompt) == load_text("prompt_follow_up.txt")
