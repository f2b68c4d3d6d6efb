"""Prompts are files: rendered ones are golden, a missing variable is an error."""

from __future__ import annotations

import dataclasses

import pytest

from generation.generator import CandidateGenerator
from nl2sql.prompts import render_prompt
from nl2sql.types import JoinPlan, Plan, Prompt, SchemaLink, SchemaLinks
from repair.repairer import CandidateRepairer
from tests.fakes import (
    FakeEngine,
    build_assessment,
    build_context,
    build_diagnostic,
    build_question,
    build_settings,
)
from tests.golden import load_text, render_golden

CONTEXT = build_context(tables=("sales.orders", "sales.customers"))
QUESTION = build_question(text="What did customers in Germany spend?")


def test_the_prompt_to_generate_is_the_golden_one() -> None:
    plan = Plan(
        SchemaLinks((SchemaLink("total", "sales.orders", "total", 1.0),)),
        JoinPlan(
            tables=("sales.customers", "sales.orders"),
            keys=CONTEXT.foreign_keys,
            skeleton="FROM customers\nJOIN orders ON orders.customer_id = customers.id",
        ),
    )
    generator = CandidateGenerator(FakeEngine(), build_settings(sampling={"show_plan": True}))
    prompt = generator.build_prompt(QUESTION, CONTEXT, plan)
    assert render_golden(prompt) == load_text("prompt_generate.txt")


def test_the_prompt_to_repair_is_the_golden_one() -> None:
    failed = build_assessment(
        sql="SELECT sum(amount) FROM orders",
        diagnostic=build_diagnostic('column "amount" does not exist', hint="Perhaps total."),
    )
    repairer = CandidateRepairer(FakeEngine(), build_settings())
    cause = 'column "amount" does not exist Perhaps total. (SQLSTATE 42703)'
    prompt = repairer.build_prompt(QUESTION, CONTEXT, failed, cause)
    assert render_golden(prompt) == load_text("prompt_repair.txt")


def render(name: str, **variables: str) -> Prompt:
    return render_prompt("generation.prompts", name, dialect="postgres", **variables)


def test_a_missing_variable_is_an_error_that_names_it() -> None:
    with pytest.raises(KeyError, match="question"):
        render("generate", schema="", hints="")


def test_an_unknown_prompt_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        render("nothing")


def test_a_value_is_no_template() -> None:
    prompt = render("generate", schema="$hints ${x} $$", hints="", question="$schema")
    assert "$hints ${x} $$" in prompt.messages[1].content
    assert prompt.messages[1].content.endswith("Question: $schema")


def test_the_roles_are_system_and_user() -> None:
    prompt = render("generate", schema="", hints="", question="")
    assert prompt.purpose == "generate"
    assert [message.role for message in prompt.messages] == ["system", "user"]


def test_the_model_is_told_the_dialect_of_the_database() -> None:
    context = dataclasses.replace(CONTEXT, dialect="sqlite")
    generator = CandidateGenerator(FakeEngine(), build_settings())
    system, _ = generator.build_prompt(QUESTION, context, Plan()).messages
    assert "You are a SQLite expert." in system.content


def test_evidence_stands_beside_the_question() -> None:
    question = build_question(text="What was spent?", evidence="Spent is total.")
    generator = CandidateGenerator(FakeEngine(), build_settings())
    _, user = generator.build_prompt(question, CONTEXT, Plan()).messages
    assert user.content.endswith("Hint: Spent is total.\n\nQuestion: What was spent?")
    repairer = CandidateRepairer(FakeEngine(), build_settings())
    failed = build_assessment(diagnostic=build_diagnostic())
    _, user = repairer.build_prompt(question, CONTEXT, failed, "it broke").messages
    assert "Question: What was spent?\nHint: Spent is total.\n" in user.content
