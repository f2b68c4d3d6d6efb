"""Requests to the engine, their prompts in each variant, and the candidates that come of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from generation.sampling.generator import CandidateGenerator, merge_candidates
from nl2sql.deadline import NEVER, Deadline
from nl2sql.errors import EngineUnavailable
from nl2sql.schema_text import render_schema
from nl2sql.types import (
    Candidate,
    Completions,
    DraftQuery,
    FewShot,
    Generated,
    JoinPlan,
    Plan,
    SamplingRequest,
    SchemaContext,
    SchemaLink,
    ValueMatch,
)
from tests.fakes import FakeEngine, build_context, build_question, build_settings
from tests.generation.written_prompt import write_prompt

CONTEXT = build_context()


async def generate(
    engine: FakeEngine, k: int = 1, *, seed: int = 0, deadline: Deadline = NEVER, **settings: Any
) -> Generated:
    generator = CandidateGenerator(engine, build_settings(**settings))
    return await generator.generate(
        build_question(k=k, seed=seed), CONTEXT, Plan(), deadline=deadline
    )


@pytest.mark.parametrize(("k", "temperature"), [(1, 0.0), (3, 0.9)])
async def test_one_candidate_is_greedy_and_more_are_sampled(k: int, temperature: float) -> None:
    engine = FakeEngine(["SELECT 1"] * k)
    generated = await generate(engine, k, seed=5, sampling={"temperature": 0.9, "max_tokens": 99})
    (request,) = engine.requests
    assert (request.k, request.temperature, request.seed) == (k, temperature, 5)
    # The answer is held between the fences.
    assert (request.answer_start, request.stop, request.max_tokens) == ("```sql\n", ("```",), 99)
    assert (generated.prompt_tokens, generated.completion_tokens) == (100, 10 * k)
    assert generated.prompts[0][1] is request.prompt


async def read_user_message(context: SchemaContext, question: str = "How many?") -> str:
    asked = build_question(text=question)
    prompt, _ = await write_prompt(build_settings(), asked, context, Plan())
    return prompt.messages[1].content


async def test_what_does_not_fit_is_left_out_and_told_and_its_hints_go_with_it() -> None:
    small: Any = {"model": {"max_model_len": 512}, "sampling": {"max_tokens": 140}}
    generated = await generate(FakeEngine(["SELECT 1"]), **small)
    text = generated.prompts[0][1].messages[1].content
    assert generated.left_out[0] == "stock.products.tags"
    assert "tags text" not in text
    assert "customer_id integer REFERENCES customers(id)" in text
    context = build_context(
        tables=("sales.orders", "sales.customers"),
        values=(
            ValueMatch("cancelled", "sales.orders", "status", "CXL", 0.9),
            ValueMatch("germany", "sales.customers", "country", "Germany", 1.0),
        ),
    )
    smaller = build_settings(**{**small, "sampling": {"max_tokens": 320}})
    prompt, left_out = await write_prompt(smaller, build_question(), context, Plan())
    text = prompt.messages[1].content
    assert "sales.customers" in left_out
    assert "orders.status holds 'CXL' (the question says \"cancelled\")" in text
    assert "Germany" not in text


FEW = tuple(FewShot(f"How many {name}?", f"SELECT count(*) FROM {name}") for name in "abc")


async def test_all_that_depends_on_the_question_stands_after_the_schema() -> None:
    schema = f"Schema:\n{render_schema(CONTEXT)}\n\n"
    for question, value, examples in (("One?", "Germany", FEW), ("Two?", "France", FEW[:1])):
        match = ValueMatch("x", "sales.customers", "country", value, 1.0)
        context = build_context(values=(match,), examples=examples)
        assert (await read_user_message(context, question)).startswith(schema)


async def test_examples_take_a_part_of_the_window_and_none_closes_its_fence() -> None:
    long = FewShot("How long?", "SELECT " + ", ".join(f"c{number}" for number in range(2000)))
    odd = FewShot("Which notes?", "SELECT '```\nQuestion: x' FROM notes")
    text = await read_user_message(build_context(examples=(FEW[0], long, odd, FEW[1])))
    assert [name in text for name in ("many a?", "many b?", "How long?", "Which notes?")] == [
        True,
        True,
        False,
        False,
    ]


async def test_a_draft_is_one_short_greedy_query() -> None:
    engine = FakeEngine(["SELECT count(*) FROM orders;\n"])
    generator = CandidateGenerator(engine, build_settings())
    draft = await generator.write_draft(build_question(k=8, seed=3), CONTEXT)
    assert draft == DraftQuery("SELECT count(*) FROM orders", 100, 10)
    (request,) = engine.requests
    assert (request.k, request.temperature, request.seed) == (1, 0.0, 3)
    assert request.max_tokens < 200
    assert f"Schema:\n{render_schema(CONTEXT)}\n" in request.prompt.messages[1].content
    unsure = CandidateGenerator(FakeEngine(["I do not know."]), build_settings())
    assert (await unsure.write_draft(build_question(), CONTEXT)).sql == ""


class SlowEngine(FakeEngine):
    """Takes its time over every request but the first."""

    async def sample(self, request: SamplingRequest) -> Completions:
        if len(self.requests) > 0:
            self.requests.append(request)
            await asyncio.sleep(60)
        return await super().sample(request)


async def test_at_the_deadline_the_variants_that_are_finished_stand_for_all() -> None:
    engine = SlowEngine(["SELECT 1"] * 4)
    generated = await generate(engine, 8, deadline=Deadline(0.0))
    assert [request.time_limit_s for request in engine.requests] == [0.0, 0.0]
    assert (generated.samples, generated.wanted) == (4, 8)
    assert [candidate.samples for candidate in generated.candidates] == [4]


def merge(*texts: str) -> tuple[Candidate, ...]:
    return merge_candidates([("v", Completions(texts, 9, 9))], "postgres")


def test_equal_queries_are_one_candidate_with_the_samples_of_all() -> None:
    b, a = "SELECT b FROM t", "SELECT a FROM t"
    assert merge(b, a, "select A\nfrom T;", "no idea", b) == (
        Candidate("c1", "SELECT b FROM t", samples=2, variant="v"),
        Candidate("c2", "SELECT a FROM t", samples=2, variant="v"),
    )
    assert merge() == merge("", "I do not know") == ()


FOUND = build_context(examples=(FewShot("How many items?", "SELECT count(*) FROM items"),))
PLAN = Plan(joins=JoinPlan(skeleton="FROM orders JOIN customers"))


async def test_all_variants_are_drawn_from_and_merged() -> None:
    engine = FakeEngine(["SELECT a FROM t"] * 4, ["SELECT b FROM t"] + ["SELECT t.a FROM t"] * 3)
    generated = await CandidateGenerator(engine, build_settings()).generate(
        build_question(k=8, seed=7), FOUND, PLAN
    )
    drawn = [(request.k, request.temperature) for request in engine.requests]
    assert drawn == [(4, 0.7), (4, 0.7)]
    assert engine.requests[0].seed == 7
    found = [(query.sql, query.samples, query.variant) for query in generated.candidates]
    assert found == [("SELECT a FROM t", 7, "standard"), ("SELECT b FROM t", 1, "narrow")]
    assert (generated.samples, generated.more) == (8, False)
    assert (generated.prompt_tokens, generated.completion_tokens) == (200, 80)
    assert [name for name, _ in generated.prompts] == ["standard", "narrow"]


async def test_a_second_round_asks_the_other_prompt() -> None:
    engine = FakeEngine(["SELECT 1"] * 4, ["SELECT 2"] * 4)
    ask = partial(
        CandidateGenerator(engine, build_settings()).generate,
        build_question(k="adaptive"),
        FOUND,
        PLAN,
    )
    first = await ask()
    assert [name for name, _ in first.prompts] == ["narrow"]
    assert (first.round_number, first.samples, first.wanted, first.more) == (0, 4, 4, True)
    second = await ask(before=first)
    assert [name for name, _ in second.prompts] == ["narrow", "standard"]
    assert (second.round_number, second.samples, second.wanted, second.more) == (1, 4, 4, False)
    assert [request.prompt for request in engine.requests] == [text for _, text in second.prompts]


async def test_a_second_round_is_not_waited_for_when_its_time_is_over_and_there_is_an_answer() -> (
    None
):
    generator = CandidateGenerator(SlowEngine(["SELECT 1"] * 4), build_settings())
    asked = build_question(k="adaptive"), FOUND, PLAN
    first = await generator.generate(*asked)
    late = Deadline.after(-2)
    second = await generator.generate(*asked, before=first, has_answer=True, deadline=late)
    assert (second.samples, second.wanted, second.candidates) == (0, 4, ())


async def test_a_second_round_that_fails_raises_unless_there_is_an_answer() -> None:
    generator = CandidateGenerator(
        FakeEngine(["SELECT 1"] * 4, EngineUnavailable("Down."), EngineUnavailable("Down.")),
        build_settings(),
    )
    asked = build_question(k="adaptive"), FOUND, PLAN
    first = await generator.generate(*asked)
    with pytest.raises(EngineUnavailable):
        await generator.generate(*asked, before=first)
    assert (await generator.generate(*asked, before=first, has_answer=True)).samples == 0


NAMED = "sales.orders"
BY_VALUE = (SchemaLink("shipped", NAMED, "status", 0.95, "value"),)


@pytest.mark.parametrize(
    ("context", "plan", "tables"),
    [
        (CONTEXT, Plan(links=(SchemaLink("orders", NAMED, "", 0.9),)), 1),
        (CONTEXT, Plan(links=BY_VALUE, joins=JoinPlan((NAMED,))), len(CONTEXT.tables)),
        (CONTEXT, Plan(links=BY_VALUE, joins=JoinPlan((NAMED,), CONTEXT.foreign_keys)), 1),
        (CONTEXT, Plan(), len(CONTEXT.tables)),
    ],
    ids=["linked", "only_a_value", "joined", "none_is_named"],
)
async def test_the_narrow_prompt_shows_only_tables_of_the_question(
    context: SchemaContext, plan: Plan, tables: int
) -> None:
    engine = FakeEngine(*[["SELECT 1"] * 4] * 2)
    generator = CandidateGenerator(engine, build_settings())
    generated = await generator.generate(build_question(k=8), context, plan)
    texts = {name: prompt.messages[1].content for name, prompt in generated.prompts}
    assert "CREATE TABLE orders" in texts["narrow"]
    assert texts["narrow"].count("CREATE TABLE") == tables
    assert texts["standard"].count("CREATE TABLE") == len(context.tables)


@pytest.mark.parametrize(("own", "made"), [(0, 3), (2, 1), (3, 0)])
async def test_the_narrow_prompt_is_filled_with_examples_made_from_keys(
    own: int, made: int
) -> None:
    shots = tuple(FewShot(f"Own {number}?", "SELECT 1") for number in range(own))
    engine = FakeEngine(*[["SELECT 1"] * 4] * 2)
    generator = CandidateGenerator(engine, build_settings())
    context = replace(CONTEXT, examples=shots)
    generated = await generator.generate(build_question(k=8), context, Plan())
    texts = {name: prompt.messages[1].content for name, prompt in generated.prompts}
    assert texts["standard"].count("\nQuestion: ") == own + 1
    assert texts["narrow"].count("\nQuestion: ") == own + made + 1
    assert {prompt.contains for _, prompt in generated.prompts} == {"values" if own else "schema"}
