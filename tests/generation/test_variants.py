"""Candidates from several prompts at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from generation.sampling.generator import CandidateGenerator
from nl2sql.errors import SettingsError
from nl2sql.types import FewShot, JoinPlan, Plan, SchemaContext, SchemaLink, SchemaLinks
from tests.fakes import FakeEngine, build_context, build_question, build_settings

CONTEXT = build_context(examples=(FewShot("How many items?", "SELECT count(*) FROM items"),))
PLAN = Plan(joins=JoinPlan(skeleton="FROM orders JOIN customers"))


async def read_prompts(
    *variants: str, context: SchemaContext = CONTEXT, plan: Plan = PLAN, **settings: Any
) -> dict[str, list[str]]:
    """What each variant says, message by message, behind the system's."""
    engine = FakeEngine(*[["SELECT 1"]] * len(variants))
    made = build_settings(sampling={"variants": list(variants)}, **settings)
    question = build_question(k=len(variants))
    generated = await CandidateGenerator(engine, made).generate(question, context, plan)
    return {
        name: [message.content for message in prompt.messages[1:]]
        for name, prompt in generated.prompts
    }


async def test_all_variants_are_drawn_from_and_merged() -> None:
    engine = FakeEngine(["SELECT a FROM t"] * 2, ["SELECT b FROM t", "SELECT t.a FROM t"])
    settings = build_settings(sampling={"variants": ["standard", "narrow"]})
    generated = await CandidateGenerator(engine, settings).generate(
        build_question(k=4, seed=7), CONTEXT, PLAN
    )
    drawn = [(request.k, request.temperature) for request in engine.requests]
    assert drawn == [(2, 0.7), (2, 0.7)]
    assert engine.requests[0].seed == 7
    found = [(query.sql, query.samples, query.variant) for query in generated.candidates]
    assert found == [("SELECT a FROM t", 3, "standard"), ("SELECT b FROM t", 1, "narrow")]
    assert (generated.samples, generated.more) == (4, False)
    assert (generated.prompt_tokens, generated.completion_tokens) == (200, 40)
    assert [name for name, _ in generated.prompts] == ["standard", "narrow"]
    assert generated.prompt is generated.prompts[0][1]


async def test_rounds_of_an_adaptive_question_differ_in_seed_and_share_what_was_written() -> None:
    engine = FakeEngine(["SELECT 1"] * 2, ["SELECT 1"] * 2)
    generator = CandidateGenerator(engine, build_settings(sampling={"variants": ["standard"]}))
    ask = partial(generator.generate, build_question(k=0), CONTEXT, Plan())
    first = await ask()
    counted = len(engine.counted)
    second = await ask(before=first)
    for number, generated in enumerate((first, second)):
        assert (generated.round_number, generated.samples, generated.more) == (number, 2, True)
    one, two = engine.requests
    assert one.prompt is two.prompt
    assert one.seed != two.seed
    assert len(engine.counted) == counted


async def test_a_variant_whose_turn_comes_later_is_written_then_and_kept() -> None:
    engine = FakeEngine(*[["SELECT 1"] * 2] * 3)
    ask = partial(
        CandidateGenerator(engine, build_settings()).generate, build_question(k=0), CONTEXT, PLAN
    )
    first = await ask()
    second = await ask(before=first)
    third = await ask(before=second)
    assert [name for name, _ in first.prompts] == ["standard"]
    assert [name for name, _ in second.prompts] == ["standard", "narrow"]
    assert third.prompts == second.prompts
    assert second.prompt is third.prompt is first.prompt
    prompts = dict(third.prompts)
    order = ("standard", "narrow", "standard")
    assert [request.prompt for request in engine.requests] == [prompts[name] for name in order]


@pytest.mark.parametrize(("k", "names"), [(4, ["standard"]), (8, ["standard", "narrow"])])
async def test_from_eight_candidates_on_there_are_two_prompts(k: int, names: list[str]) -> None:
    engine = FakeEngine(*[["SELECT 1"] * (k // len(names))] * len(names))
    generated = await CandidateGenerator(engine, build_settings()).generate(
        build_question(k=k), CONTEXT, PLAN
    )
    assert [name for name, _ in generated.prompts] == names
    assert [request.k for request in engine.requests] == [k // len(names)] * len(names)


NAMED = "sales.orders"


@pytest.mark.parametrize(
    ("context", "plan"),
    [
        pytest.param(
            build_context(),
            Plan(links=SchemaLinks((SchemaLink("orders", NAMED, "", 0.9),))),
            id="linked",
        ),
        pytest.param(build_context(), Plan(joins=JoinPlan(tables=(NAMED,))), id="joined"),
        pytest.param(build_context(required=(NAMED,)), Plan(), id="required"),
    ],
)
async def test_the_narrow_prompt_shows_only_tables_of_the_question(
    context: SchemaContext, plan: Plan
) -> None:
    prompts = await read_prompts("standard", "narrow", context=context, plan=plan)
    (wide,), (narrow,) = prompts["standard"], prompts["narrow"]
    assert "CREATE TABLE orders" in narrow
    assert narrow.count("CREATE TABLE") == 1 < wide.count("CREATE TABLE")


async def test_the_narrow_prompt_of_a_question_that_names_no_table_shows_all() -> None:
    prompts = await read_prompts("standard", "narrow", plan=Plan())
    assert prompts["narrow"] == prompts["standard"]


@pytest.mark.parametrize("variants", [["dll"], [], ["narrow", "narrow"]])
def test_unknown_repeated_and_no_variants_are_errors(variants: list[str]) -> None:
    with pytest.raises(SettingsError, match=r"sampling\.variants"):
        build_settings(sampling={"variants": variants})
