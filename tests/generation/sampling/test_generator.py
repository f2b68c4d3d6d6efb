"""One request to the engine, its prompt, and the candidates that come of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from generation.sampling.generator import CandidateGenerator
from nl2sql.deadline import NEVER, Deadline
from nl2sql.errors import EngineUnavailable
from nl2sql.schema_text import render_schema
from nl2sql.types import (
    Completions,
    DraftQuery,
    FewShot,
    Generated,
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


async def test_an_error_of_the_engine_passes_through() -> None:
    with pytest.raises(EngineUnavailable):
        await generate(FakeEngine(EngineUnavailable("Busy.")))


async def read_user_message(context: SchemaContext, plan: Plan, **flags: bool) -> str:
    settings = build_settings(flags=flags)
    prompt, _ = await write_prompt(settings, build_question(text="How many orders?"), context, plan)
    return prompt.messages[1].content


async def test_the_schema_stands_before_the_hints_and_the_question_at_the_end() -> None:
    match = ValueMatch("germany", "sales.customers", "country", "Germany", 1.0)
    text = await read_user_message(build_context(values=(match,)), Plan())
    marks = ["CREATE TABLE returns", "customers.country holds 'Germany'", "Question: "]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    assert text.endswith("Question: How many orders?")


async def test_questions_on_the_same_tables_share_their_prefix() -> None:
    settings = build_settings()
    prompts = [
        (await write_prompt(settings, build_question(text=text), CONTEXT, Plan()))[0]
        for text in ("How many?", "Which ones?")
    ]
    one, two = (prompt.messages[1].content for prompt in prompts)
    assert two == f"{one.removesuffix('How many?')}Which ones?"


@pytest.mark.parametrize("comments", [True, False])
async def test_a_flag_decides_on_comments(comments: bool) -> None:
    text = await read_user_message(CONTEXT, Plan(), comments=comments)
    assert ("ISO 3166" in text) is comments


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


async def test_pruned_columns_are_not_shown() -> None:
    text = await read_user_message(CONTEXT, Plan(columns=(("sales.orders", ("id", "total")),)))
    assert "placed_at" not in text
    assert "quantity" in text


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


async def test_the_best_example_stands_next_to_the_question() -> None:
    text = await read_user_message(build_context(examples=FEW), Plan())
    places = [text.index(f"How many {name}?") for name in "cba"]
    assert places == sorted(places)
    assert places[-1] < text.index("How many orders?")


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


async def test_the_gate_goes_by_the_setting() -> None:
    context = build_context(tables=("sales.orders",))
    far = SchemaContext(
        tuple(type(hit)(hit.table, 0.1, cosine=0.3) for hit in context.tables), (), context.names
    )
    question = build_question(text="Is it sunny?")
    for similarity, code in ((0.2, ""), (0.4, "off_topic")):
        settings = build_settings(gate={"refuse_below": similarity, "pass_above": 0.5})
        intent = await CandidateGenerator(FakeEngine(), settings).gate(question, far)
        assert intent.code == code


async def test_the_plan_is_not_shown_unless_asked() -> None:
    settings = build_settings()
    links = SchemaLinks((SchemaLink("total", "sales.orders", "total", 1.0),))
    prompt, _ = await write_prompt(settings, build_question(), CONTEXT, Plan(links=links))
    assert "Columns that may matter" not in prompt.messages[-1].content


class SlowEngine(FakeEngine):
    """Takes its time over every prompt but the shortest."""

    async def sample(self, request: SamplingRequest) -> Completions:
        if len(self.requests) > 0:
            self.requests.append(request)
            await asyncio.sleep(60)
        return await super().sample(request)


async def test_at_the_deadline_the_variants_that_are_finished_stand_for_all() -> None:
    variants = {"variants": ["standard", "narrow"]}
    engine = SlowEngine(["SELECT 1", "SELECT 1"])
    generated = await generate(engine, 4, deadline=Deadline(0.0), sampling=variants)
    assert [request.time_limit_s for request in engine.requests] == [0.0, 0.0]
    assert (generated.samples, generated.wanted) == (2, 4)
    assert [candidate.samples for candidate in generated.candidates] == [2]


async def test_fewer_completions_than_wanted_are_told() -> None:
    generated = await generate(FakeEngine(["SELECT 1"]), 4)
    assert (generated.samples, generated.wanted) == (1, 4)
