"""Prompts are files: rendered ones are golden, a missing variable is an error."""

from __future__ import annotations

import dataclasses

import pytest

from generation.sampling.generator import CandidateGenerator
from nl2sql.prompts import render_prompt
from nl2sql.types import FewShot, JoinPlan, Plan, Prompt, SchemaLink, ValueMatch
from repair.repairer import CandidateRepairer
from tests.fakes import (
    FakeEngine,
    build_assessment,
    build_context,
    build_diagnostic,
    build_question,
    build_settings,
)
from tests.generation.written_prompt import write_prompt
from tests.golden import load_text, render_golden
from tests.retrieval.semantics.files import GERMANS, REVENUE

CONTEXT = build_context(tables=("sales.orders", "sales.customers"))
QUESTION = build_question(text="What did customers in Germany spend?")


async def test_the_prompt_to_generate_is_the_golden_one() -> None:
    plan = Plan(
        (SchemaLink("total", "sales.orders", "total", 1.0),),
        JoinPlan(
            tables=("sales.customers", "sales.orders"),
            keys=CONTEXT.foreign_keys,
            skeleton="FROM customers\nJOIN orders ON orders.customer_id = customers.id",
        ),
    )
    prompt, _ = await write_prompt(build_settings(), QUESTION, CONTEXT, plan)
    assert render_golden(prompt) == load_text("prompt_generate.txt")


@pytest.mark.parametrize(
    ("tables", "golden"), [(3, "prompt_definitions.txt"), (90, "prompt_definitions_brief.txt")]
)
async def test_the_prompt_with_definitions_is_the_golden_one(tables: int, golden: str) -> None:
    context = build_context(
        tables=("sales.orders", "sales.order_lines", "sales.customers"),
        catalog_tables=tables,
        definitions=(dataclasses.replace(REVENUE, phrase="turnover"), GERMANS),
    )
    question = build_question(text="Turnover of German customers?", evidence="Amounts are in EUR.")
    plan = Plan(
        (
            SchemaLink("turnover", "sales.orders", "status", 1.0, "definition"),
            SchemaLink("customers", "sales.customers", "name", 0.9),
        )
    )
    prompt, _ = await write_prompt(build_settings(), question, context, plan)
    assert render_golden(prompt) == load_text(golden)


async def test_the_prompt_with_all_that_retrieval_finds_is_the_golden_one() -> None:
    context = dataclasses.replace(
        CONTEXT,
        glosses=(("sales.orders.status", "values: 'open', 'shipped', 'CXL'"),),
        values=(
            ValueMatch("germany", "sales.customers", "country", "Germany", 1.0),
            ValueMatch("cancelled", "sales.orders", "status", "CXL", 0.9),
            ValueMatch("O'Hara", "sales.customers", "name", "O'Hara", 1.0),
        ),
        examples=(
            FewShot("How many\norders were shipped?", "SELECT count(*) FROM orders\n", 0.9),
            FewShot("Who buys most?", "SELECT name\nFROM customers\nLIMIT 1", 0.8),
        ),
    )
    question = build_question(
        text="What did O'Hara from germany spend on cancelled orders?", evidence="Spent is total."
    )
    settings = build_settings()
    prompt, left_out = await write_prompt(settings, question, context, Plan())
    assert render_golden(prompt) == load_text("prompt_generate_full.txt")
    assert left_out == ()


async def test_a_prompt_begins_as_what_is_read_ahead_of_its_module() -> None:
    shared = ("sales.orders", "sales.order_lines")
    module = build_context(tables=shared, shared=shared, catalog_tables=90)
    engine = FakeEngine(["x"])
    await CandidateGenerator(engine, build_settings()).prepare(module)
    (ahead,) = (request.prompt for request in engine.requests)
    context = build_context(
        tables=("sales.customers", *shared),
        shared=shared,
        catalog_tables=90,
        values=(ValueMatch("germany", "sales.customers", "country", "Germany", 1.0),),
    )
    prompt, _ = await write_prompt(build_settings(), QUESTION, context, Plan())
    beginning, _, _ = ahead.messages[1].content.partition("\n\n")
    assert beginning.count("CREATE TABLE") == 2
    assert prompt.messages[0] == ahead.messages[0]
    assert prompt.messages[1].content.startswith(f"{beginning}\nCREATE TABLE customers")


async def test_the_prompt_to_repair_is_the_golden_one() -> None:
    failed = build_assessment(
        sql="SELECT sum(amount) FROM orders",
        diagnostic=build_diagnostic('column "amount" does not exist', hint="Perhaps total."),
    )
    repairer = CandidateRepairer(FakeEngine(), build_settings())
    prompt = await repairer.build_prompt(QUESTION, CONTEXT, (failed,))
    assert render_golden(prompt) == load_text("prompt_repair.txt")


def render(name: str, **variables: str) -> Prompt:
    return render_prompt(
        "generation.prompts", name, dialect="postgres", contains="schema", **variables
    )


def test_a_value_is_no_template() -> None:
    prompt = render(
        "generate", schema="$hints ${x} $$", notes="", examples="", hints="", question="$schema"
    )
    assert "$hints ${x} $$" in prompt.messages[1].content
    assert prompt.messages[1].content.endswith("Question: $schema")
