"""Requests to the engine, their prompts in each variant, and the candidates that come of them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from generation.sampling.generator import CandidateGenerator, merge_candidates
from nl2sql.deadline import NEVER, Deadline
from nl2sql.schema_text import render_schema
from nl2sql.types import (
    Candidate,
    Completions,
    DraftQuery,
    FewShot,
    Generated,
    JoinPlan,
    Plan,
    Prompt,
    SamplingRequest,
    SchemaContext,
    SchemaLink,
    SchemaLinks,
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


@pytest.mark.parametrize(("k", "temperature"), [(1, 0.0), (2, 0.9), (7, 0.9)])
async def test_one_candidate_is_greedy_and_more_are_sampled(k: int, temperature: float) -> None:
    engine = FakeEngine(["SELECT 1"] * k)
    generated = await generate(engine, k, seed=5, sampling={"temperature": 0.9, "max_tokens": 99})
    (request,) = engine.requests
    assert (request.k, request.temperature, request.seed) == (k, temperature, 5)
    # The answer is held between the fences.
    assert (request.answer_start, request.stop, request.max_tokens) == ("```sql\n", ("```",), 99)
    assert (generated.prompt_tokens, generated.completion_tokens) == (100, 10 * k)
    assert generated.prompt is request.prompt


async def read_user_message(context: SchemaContext, plan: Plan, **flags: bool) -> str:
    settings = build_settings(flags=flags)
    prompt, _ = await write_prompt(settings, build_question(text="How many orders?"), context, plan)
    return prompt.messages[1].content


async def test_what_does_not_fit_is_left_out_and_told() -> None:
    small: Any = {"model": {"max_model_len": 512}, "sampling": {"max_tokens": 140}}
    generated = await generate(FakeEngine(["SELECT 1"]), **small)
    text = generated.prompt.messages[1].content
    assert generated.left_out[0] == "stock.products.tags"
    assert "tags text" not in text
    assert "customer_id integer REFERENCES customers(id)" in text


async def test_the_hints_of_a_table_that_is_left_out_go_with_it() -> None:
    small = build_settings(model={"max_model_len": 512}, sampling={"max_tokens": 320})
    context = build_context(
        tables=("sales.orders", "sales.customers"),
        values=(
            ValueMatch("cancelled", "sales.orders", "status", "CXL", 0.9),
            ValueMatch("germany", "sales.customers", "country", "Germany", 1.0),
        ),
    )
    prompt, left_out = await write_prompt(small, build_question(), context, Plan())
    text = prompt.messages[1].content
    assert "sales.customers" in left_out
    assert "orders.status holds 'CXL' (the question says \"cancelled\")" in text
    assert "Germany" not in text


FEW = tuple(FewShot(f"How many {name}?", f"SELECT count(*) FROM {name}") for name in "abc")


async def test_all_that_depends_on_the_question_stands_after_the_schema() -> None:
    settings = build_settings()
    texts = []
    for question, value, examples in (("One?", "Germany", FEW), ("Two?", "France", FEW[:1])):
        match = ValueMatch("x", "sales.customers", "country", value, 1.0)
        context = build_context(values=(match,), examples=examples)
        prompt, _ = await write_prompt(settings, build_question(text=question), context, Plan())
        assert prompt.messages[0] == (await plain_prompt()).messages[0]
        texts.append(prompt.messages[1].content)
    schema = f"Schema:\n{render_schema(CONTEXT)}\n\n"
    assert [text.startswith(schema) for text in texts] == [True, True]


async def plain_prompt() -> Prompt:
    settings = build_settings()
    return (await write_prompt(settings, build_question(), CONTEXT, Plan()))[0]


async def test_examples_take_a_part_of_the_window_and_no_more() -> None:
    long = FewShot("How long?", "SELECT " + ", ".join(f"c{number}" for number in range(2000)))
    text = await read_user_message(build_context(examples=(FEW[0], long, FEW[1])), Plan())
    assert "How many a?" in text
    assert "How many b?" in text
    assert "How long?" not in text


async def test_an_example_that_would_close_its_fence_is_not_shown() -> None:
    odd = FewShot("Which notes?", "SELECT '```\nQuestion: x' FROM notes")
    text = await read_user_message(build_context(examples=(odd, FEW[0])), Plan())
    assert "Which notes?" not in text
    assert "How many a?" in text


async def test_a_draft_is_one_short_greedy_draft_over_the_names() -> None:
    engine = FakeEngine(["SELECT count(*) FROM orders;\n"])
    generator = CandidateGenerator(engine, build_settings())
    draft = await generator.write_draft(build_question(k=8, seed=3), CONTEXT)
    assert draft == DraftQuery("SELECT count(*) FROM orders", 100, 10)
    (request,) = engine.requests
    assert (request.k, request.temperature, request.seed) == (1, 0.0, 3)
    assert request.max_tokens < 200
    assert request.prompt.purpose == "draft"
    text = request.prompt.messages[1].content
    assert "orders(id, customer_id, seller_id, placed_at, status, total)\n" in text
    assert "CREATE TABLE" not in text


async def test_a_draft_without_a_query_is_empty() -> None:
    generator = CandidateGenerator(FakeEngine(["I do not know."]), build_settings())
    assert (await generator.write_draft(build_question(), CONTEXT)).sql == ""


class SlowEngine(FakeEngine):
    """Takes its time over every prompt but the shortest."""

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


async def test_fewer_completions_than_wanted_are_told() -> None:
    generated = await generate(FakeEngine(["SELECT 1"]), 4)
    assert (generated.samples, generated.wanted) == (1, 4)


def merge(*texts: str, logprobs: tuple[float, ...] = ()) -> tuple[Candidate, ...]:
    return merge_candidates([("v", Completions(texts, 9, 9, logprobs))], "postgres")


def test_equal_queries_are_one_candidate_in_the_order_of_their_first_sample() -> None:
    b, a = "SELECT b FROM t", "SELECT a FROM t"
    assert merge(b, a, "select A\nfrom T;", "no idea", b) == (
        Candidate("c1", "SELECT b FROM t", samples=2, variant="v"),
        Candidate("c2", "SELECT a FROM t", samples=2, variant="v"),
    )


def test_a_candidate_is_as_likely_as_its_likeliest_sample() -> None:
    merged = merge("SELECT a", "SELECT b", "select A", logprobs=(-0.5, -0.1, -0.2))
    assert [(candidate.samples, candidate.logprob) for candidate in merged] == [
        (2, -0.2),
        (1, -0.1),
    ]


@pytest.mark.parametrize("texts", [(), ("", "I do not know")], ids=["nothing", "no_sql"])
def test_no_query_is_no_candidate(texts: tuple[str, ...]) -> None:
    assert merge(*texts) == ()


FOUND = build_context(examples=(FewShot("How many items?", "SELECT count(*) FROM items"),))
PLAN = Plan(joins=JoinPlan(skeleton="FROM orders JOIN customers"))


async def read_prompts(context: SchemaContext = FOUND, plan: Plan = PLAN) -> dict[str, list[str]]:
    """What each variant says, message by message, behind the system's."""
    engine = FakeEngine(*[["SELECT 1"] * 4] * 2)
    generator = CandidateGenerator(engine, build_settings())
    generated = await generator.generate(build_question(k=8), context, plan)
    return {
        name: [message.content for message in prompt.messages[1:]]
        for name, prompt in generated.prompts
    }


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
    assert generated.prompt is generated.prompts[0][1]


async def test_a_variant_whose_turn_comes_later_is_written_then_and_kept() -> None:
    engine = FakeEngine(*[["SELECT 1"] * 2] * 3)
    ask = partial(
        CandidateGenerator(engine, build_settings()).generate,
        build_question(k=0),
        FOUND,
        PLAN,
    )
    first = await ask()
    second = await ask(before=first)
    counted = len(engine.counted)
    third = await ask(before=second)
    assert len(engine.counted) == counted
    for number, generated in enumerate((first, second, third)):
        assert (generated.round_number, generated.samples, generated.more) == (number, 2, True)
    assert len({request.seed for request in engine.requests}) == 3
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
        build_question(k=k), FOUND, PLAN
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
    prompts = await read_prompts(context, plan)
    (wide,), (narrow,) = prompts["standard"], prompts["narrow"]
    assert "CREATE TABLE orders" in narrow
    assert narrow.count("CREATE TABLE") == 1 < wide.count("CREATE TABLE")


async def test_the_narrow_prompt_of_a_question_that_names_no_table_shows_all() -> None:
    prompts = await read_prompts(plan=Plan())
    assert prompts["narrow"] == prompts["standard"]
