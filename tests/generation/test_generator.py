"""One request to the engine, its prompt, and the candidates that come of it."""

from __future__ import annotations

import pytest

from generation.generator import CandidateGenerator, merge_candidates
from nl2sql.errors import EngineUnavailable
from nl2sql.types import Candidate, JoinPlan, Plan, SchemaContext, SchemaLink, SchemaLinks
from tests.fakes import FakeEngine, build_context, build_question, build_settings

CONTEXT = build_context()


@pytest.mark.parametrize(("k", "temperature"), [(1, 0.0), (2, 0.9), (8, 0.9)])
async def test_one_candidate_is_greedy_and_more_are_sampled(k: int, temperature: float) -> None:
    engine = FakeEngine(["SELECT 1"] * k)
    generator = CandidateGenerator(engine, build_settings(sampling={"temperature": 0.9}))
    await generator.generate(build_question(k=k, seed=5), CONTEXT, Plan())
    (request,) = engine.requests
    assert (request.k, request.temperature, request.seed) == (k, temperature, 5)


async def test_the_answer_is_held_between_the_fences() -> None:
    engine = FakeEngine(["SELECT 1"])
    settings = build_settings(sampling={"max_tokens": 99})
    await CandidateGenerator(engine, settings).generate(build_question(), CONTEXT, Plan())
    (request,) = engine.requests
    assert (request.answer_start, request.stop, request.max_tokens) == ("```sql\n", ("```",), 99)


async def test_tokens_and_the_prompt_are_handed_on() -> None:
    engine = FakeEngine(["SELECT 1", "SELECT 2"])
    generated = await CandidateGenerator(engine, build_settings()).generate(
        build_question(k=2), CONTEXT, Plan()
    )
    assert (generated.prompt_tokens, generated.completion_tokens) == (100, 20)
    assert generated.prompt is engine.requests[0].prompt


async def test_an_error_of_the_engine_passes_through() -> None:
    generator = CandidateGenerator(FakeEngine(EngineUnavailable("Busy.")), build_settings())
    with pytest.raises(EngineUnavailable):
        await generator.generate(build_question(), CONTEXT, Plan())


def test_equal_queries_are_one_candidate_in_the_order_of_their_first_sample() -> None:
    texts = (
        "SELECT b FROM t",
        "SELECT a FROM t",
        "select A\nfrom T;",
        "no idea",
        "SELECT b FROM t",
    )
    assert merge_candidates(texts) == (
        Candidate("c1", "SELECT b FROM t", samples=2),
        Candidate("c2", "SELECT a FROM t", samples=2),
    )


@pytest.mark.parametrize("texts", [(), ("", "I do not know")], ids=["nothing", "no_sql"])
def test_no_query_is_no_candidate(texts: tuple[str, ...]) -> None:
    assert merge_candidates(texts) == ()


def read_user_message(context: SchemaContext, plan: Plan, **flags: bool) -> str:
    generator = CandidateGenerator(
        FakeEngine(), build_settings(flags=flags, sampling={"show_plan": True})
    )
    prompt = generator.build_prompt(build_question(text="How many orders?"), context, plan)
    return prompt.messages[1].content


def test_the_schema_stands_before_the_hints_and_the_question_at_the_end() -> None:
    plan = Plan(
        SchemaLinks((SchemaLink("total", "sales.orders", "total", 1.0),)),
        JoinPlan(skeleton="FROM orders"),
    )
    text = read_user_message(CONTEXT, plan)
    marks = ["CREATE TABLE returns", "Columns that may matter", "FROM orders", "Question: "]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    assert text.endswith("Question: How many orders?")


def test_questions_on_the_same_tables_share_their_prefix() -> None:
    generator = CandidateGenerator(FakeEngine(), build_settings(sampling={"show_plan": True}))
    texts = [
        generator.build_prompt(build_question(text=text), CONTEXT, Plan()).messages[1].content
        for text in ("How many?", "Which ones?")
    ]
    shared = texts[0].removesuffix("How many?")
    assert texts[1] == f"{shared}Which ones?"


def test_hints_name_columns_of_tables_in_sight_and_no_tables() -> None:
    links = SchemaLinks(
        (
            SchemaLink("order", "sales.orders", "", 1.0),
            SchemaLink("total", "sales.orders", "total", 1.0),
            SchemaLink("price", "stock.products", "price", 1.0),
        )
    )
    text = read_user_message(build_context(tables=("sales.orders",)), Plan(links))
    assert "Columns that may matter: orders.total\n" in text


def test_at_most_eight_columns_are_named() -> None:
    links = tuple(SchemaLink("x", "sales.orders", f"c{number}", 1.0) for number in range(20))
    text = read_user_message(CONTEXT, Plan(SchemaLinks(links)))
    (line,) = (line for line in text.splitlines() if line.startswith("Columns"))
    assert line.count("orders.c") == 8


def test_an_empty_plan_gives_no_hints() -> None:
    text = read_user_message(CONTEXT, Plan())
    assert "may matter" not in text
    assert "join like" not in text


@pytest.mark.parametrize("glosses", [True, False])
def test_glosses_decide_on_comments(glosses: bool) -> None:
    text = read_user_message(CONTEXT, Plan(), glosses=glosses)
    assert ("ISO 3166" in text) is glosses


def test_the_schema_keeps_to_the_window_of_the_model() -> None:
    small = build_settings(model={"max_model_len": 512}, sampling={"max_tokens": 400})
    generator = CandidateGenerator(FakeEngine(), small)
    prompt = generator.build_prompt(build_question(), CONTEXT, Plan())
    assert prompt.messages[1].content.count("CREATE TABLE") == 1


async def test_the_gate_goes_by_the_setting() -> None:
    context = build_context(
        tables=("sales.orders",),
    )
    far = SchemaContext(
        tuple(type(hit)(hit.table, 0.1, cosine=0.3) for hit in context.tables), (), context.names
    )
    for similarity, passes in ((0.2, True), (0.4, False)):
        settings = build_settings(retrieval={"min_similarity": similarity})
        reason = await CandidateGenerator(FakeEngine(), settings).gate(build_question(), far)
        assert (reason == "") is passes


def test_the_plan_is_not_shown_unless_asked() -> None:
    generator = CandidateGenerator(FakeEngine(), build_settings())
    links = SchemaLinks((SchemaLink("total", "sales.orders", "total", 1.0),))
    prompt = generator.build_prompt(build_question(), CONTEXT, Plan(links=links))
    assert "Columns that may matter" not in prompt.messages[-1].content
