"""The order of the stages, and what each ending needs. All stages are fakes but in the last tests,
where the real generator, ranker and repairer run over a fake model, guard and database."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from nl2sql.answers import Answer, Answered, Clarify, Refused
from nl2sql.errors import EngineUnavailable, PromptTooLong
from nl2sql.pipeline.draft_names import has_new_names
from nl2sql.pipeline.pipeline import Pipeline
from nl2sql.pipeline.stages import Stages
from nl2sql.protocols import Generator, Ranker, Repairer, Retriever
from nl2sql.types import (
    Assessment,
    Candidate,
    CatalogQuery,
    Generated,
    Ranking,
    SchemaContext,
    VerifiedQuery,
    Violation,
)
from tests.fakes import (
    FakeGenerator,
    FakeGuard,
    FakePlanner,
    FakeRanker,
    FakeRepairer,
    FakeRetriever,
    build_assessment,
    build_context,
    build_diagnostic,
    build_generated,
    build_guarded,
    build_question,
    build_violation,
)
from tests.golden import load_cases

GOOD = build_assessment("c1", sql="good", samples=3, rows=[(7,)], group=0)
OTHER = build_assessment("c2", sql="other", rows=[(8,)], group=1)
BAD = build_assessment("c2", sql="bad", verdict=build_violation(), explained=None)
BROKEN = build_assessment("c3", sql="broken", diagnostic=build_diagnostic())


ADAPTIVE = build_question(k="adaptive")
EARLY = replace(build_generated(GOOD.candidate), samples=2, wanted=2, more=True)


def build_pipeline(
    generator: Generator,
    ranker: Ranker,
    repairer: Repairer | None = None,
    *,
    retriever: Retriever | None = None,
    pre_sql: bool = False,
    sampling_timeout_s: float | None = None,
) -> Pipeline:
    stages = Stages(
        retriever=retriever or FakeRetriever(),
        planner=FakePlanner(),
        generator=generator,
        guard=FakeGuard(),
        ranker=ranker,
        repairer=repairer or FakeRepairer(),
    )
    return Pipeline(stages, pre_sql=pre_sql, sampling_timeout_s=sampling_timeout_s)


def generate(*assessments: Assessment) -> FakeGenerator:
    return FakeGenerator(build_generated(*(assessment.candidate for assessment in assessments)))


def rank(*assessments: Assessment, **overrides: object) -> Ranking:
    values = {"samples": 4, "confidence": 0.5, "quorum": True, **overrides}
    return replace(Ranking(assessments), **values)  # type: ignore[arg-type]


def known(*assessments: Assessment) -> dict[str, Assessment]:
    return {assessment.candidate.sql: assessment for assessment in assessments}


async def test_the_winner_is_answered_and_the_trace_holds_every_stages_result() -> None:
    ranking = rank(GOOD, OTHER)
    ranker = FakeRanker(known(GOOD, OTHER), ranking)
    question = build_question()
    answer = await build_pipeline(generate(GOOD, OTHER), ranker).answer(question)
    assert isinstance(answer, Answered)
    assert (answer.sql, answer.result.rows) == ("good", ((7,),))
    assert (answer.confidence, answer.quorum) == (0.5, True)
    assert ranker.ranked == [(GOOD, OTHER)]
    trace = answer.trace
    assert trace.question is question
    assert trace.context == build_context()
    assert None not in (trace.route, trace.plan)
    assert trace.prompts
    assert trace.ranking is ranking
    assert trace.repairs == ()


async def test_the_query_that_was_given_for_the_question_is_run_and_nothing_is_sampled() -> None:
    given = VerifiedQuery("good", "mia", datetime(2026, 3, 1, tzinfo=UTC), "feedback")
    retriever = FakeRetriever(replace(build_context(), verified=given))
    verified = replace(GOOD, candidate=replace(GOOD.candidate, origin="verified"))
    ranker = FakeRanker(known(verified), rank(verified, description="shows it.", notes=("So.",)))
    generator = generate(OTHER)
    answer = await build_pipeline(generator, ranker, retriever=retriever).answer(build_question())
    assert isinstance(answer, Answered)
    assert (answer.sql, answer.verified, answer.confidence) == ("good", given, 1.0)
    assert (answer.description, answer.trace.notes) == ("shows it.", ("So.",))
    assert ranker.assessed == [Candidate("c1", "good", origin="verified")]
    assert generator.questions == []
    assert [timing.stage for timing in answer.trace.timings] == [
        "retrieve",
        "guard",
        "assess",
        "vote",
    ]


async def test_a_question_about_the_database_is_answered_before_the_gate_and_the_model() -> None:
    retriever = FakeRetriever(replace(build_context(), about=CatalogQuery("good", "Not all.")))
    about = replace(GOOD, candidate=replace(GOOD.candidate, origin="catalog"))
    ranker = FakeRanker(known(about), rank(about))
    generator = generate(OTHER)
    answer = await build_pipeline(generator, ranker, retriever=retriever).answer(build_question())
    assert isinstance(answer, Answered)
    assert (answer.sql, answer.origin, answer.trace.notes) == ("good", "catalog", ("Not all.",))
    assert generator.questions == []


async def test_a_chosen_query_is_read_in_the_dialect_of_its_database() -> None:
    ranker = FakeRanker(known(GOOD), rank(GOOD))
    stages = replace(
        build_pipeline(FakeGenerator(), ranker).stages,
        guard=FakeGuard({"good": replace(build_guarded("good"), dialect="sqlite")}),
    )
    assert isinstance(await Pipeline(stages).answer(build_question(chosen_sql="good")), Answered)
    assert [context.dialect for context in ranker.contexts] == ["sqlite"]


async def test_a_given_query_that_runs_no_more_gives_way_to_sampling() -> None:
    given = VerifiedQuery("broken", "mia", datetime(2026, 3, 1, tzinfo=UTC), "file")
    retriever = FakeRetriever(replace(build_context(), verified=given))
    ranker = FakeRanker(known(BROKEN, GOOD), rank(BROKEN), rank(GOOD))
    answer = await build_pipeline(generate(GOOD), ranker, retriever=retriever).answer(
        build_question()
    )
    assert isinstance(answer, Answered)
    assert (answer.sql, answer.verified, answer.confidence) == ("good", None, 0.5)
    assert answer.trace.notes == (
        "The verified query for this question cannot be run any more, so it was not used.",
    )


async def test_every_candidate_and_repair_is_assessed_and_every_stage_timed_once() -> None:
    ranker = FakeRanker(known(BAD, GOOD), rank(BAD, quorum=False), rank(GOOD, BAD))
    pipeline = build_pipeline(generate(BAD), ranker, FakeRepairer("good"))
    timings = (await pipeline.answer(build_question())).trace.timings
    assert [candidate.sql for candidate in ranker.assessed] == ["bad", "good"]
    assert ranker.assessed[1].repairs == "c2"
    stages = [timing.stage for timing in timings]
    assert stages == "retrieve gate plan generate guard assess vote repair derive".split()
    assert all(timing.ms >= 0 for timing in timings)
    tokens = {timing.stage: (timing.prompt_tokens, timing.completion_tokens) for timing in timings}
    assert tokens.pop("generate") == (100, 10)
    assert set(tokens.values()) == {(0, 0)}


async def test_rounds_follow_until_the_ranking_is_settled() -> None:
    first = replace(build_generated(GOOD.candidate), samples=2, more=True)
    again = replace(build_generated(GOOD.candidate, OTHER.candidate), samples=2, more=True)
    ranker = FakeRanker(
        known(GOOD, OTHER), rank(GOOD, samples=2), rank(GOOD, OTHER, samples=4, settled=True)
    )
    answer = await build_pipeline(FakeGenerator(first, again), ranker).answer(ADAPTIVE)
    assert isinstance(answer, Answered)
    # Known candidates are not assessed again; their samples add up.
    assert [candidate.sql for candidate in ranker.assessed] == ["good", "other"]
    samples = {known.candidate.id: known.candidate.samples for known in ranker.ranked[1]}
    assert samples == {"c1": 2 * GOOD.candidate.samples, "c2": OTHER.candidate.samples}


async def test_the_gate_refuses_before_any_work_of_the_model() -> None:
    generator, ranker = FakeGenerator(reason="Not about shops."), FakeRanker({})
    answer = await build_pipeline(generator, ranker).answer(build_question())
    assert isinstance(answer, Refused)
    assert (answer.code, answer.reason) == ("off_topic", "Not about shops.")
    assert generator.questions == []
    assert ranker.assessed == []
    assert [timing.stage for timing in answer.trace.timings] == ["retrieve", "gate"]


@pytest.mark.parametrize(
    ("confidence", "kind"),
    [(0.49, Clarify), (0.5, Answered), (0.51, Answered)],
    ids=["below", "at", "above"],
)
async def test_low_confidence_asks_back(confidence: float, kind: type) -> None:
    ranking = rank(GOOD, OTHER, confidence=confidence, threshold=0.5)
    pipeline = build_pipeline(generate(GOOD, OTHER), FakeRanker(known(GOOD, OTHER), ranking))
    assert type(await pipeline.answer(build_question())) is kind


@pytest.mark.parametrize(
    ("second", "note"),
    [
        (EngineUnavailable("Down."), "Down. Sampling ended with 2 candidates."),
        (PromptTooLong("Too long."), "Too long. Sampling ended with 2 candidates."),
        (
            replace(build_generated(), samples=0, wanted=2, round_number=1),
            "A further round failed. Sampling ended with 2 candidates.",
        ),
    ],
    ids=["engine", "prompt", "no sample"],
)
async def test_what_earlier_rounds_brought_is_answered_when_a_later_one_fails(
    second: Generated | Exception, note: str
) -> None:
    ranker = FakeRanker(known(GOOD), rank(GOOD, samples=2), rank(GOOD, samples=2))
    answer = await build_pipeline(FakeGenerator(EARLY, second), ranker).answer(ADAPTIVE)
    assert isinstance(answer, Answered)
    assert answer.trace.ended_early
    assert answer.trace.notes == (note,)


async def test_without_a_winner_the_engines_failure_is_raised() -> None:
    first = replace(EARLY, candidates=(BAD.candidate,))
    generator = FakeGenerator(first, EngineUnavailable("Down."))
    ranker = FakeRanker(known(BAD), rank(BAD, samples=2), rank(BAD, samples=2))
    with pytest.raises(EngineUnavailable, match="Down"):
        await build_pipeline(generator, ranker).answer(ADAPTIVE)


# -- the deadline ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("allowed", "timeout_s", "asked"),
    [(True, None, True), (True, 0.0, False), (False, None, False)],
)
async def test_the_model_repairs_where_it_may_and_the_time_is_not_over(
    allowed: bool, timeout_s: float | None, asked: bool
) -> None:
    repairer = FakeRepairer("", "")
    ranker = FakeRanker(known(BROKEN), rank(BROKEN, quorum=False))
    pipeline = build_pipeline(generate(BROKEN), ranker, repairer, sampling_timeout_s=timeout_s)
    pipeline = replace(pipeline, model_repair=allowed)
    await pipeline.answer(build_question())
    assert repairer.may_ask_model == [False, True][: 1 + asked]


async def test_no_round_follows_the_deadline_and_the_answer_says_so() -> None:
    generator = FakeGenerator(replace(EARLY, samples=1, wanted=4))
    ranker = FakeRanker(known(GOOD), rank(GOOD, samples=1))
    answer = await build_pipeline(generator, ranker, sampling_timeout_s=0.0).answer(ADAPTIVE)
    assert isinstance(answer, Answered)
    trace = answer.trace
    assert (trace.wanted, trace.ended_early) == (4, True)
    assert trace.notes == ("Sampling ended after 0 s with 1 of 4 candidates.",)
    # Rules need no model: neighbours are derived however slow it is.
    assert trace.timings[-1].stage == "derive"


async def test_no_round_follows_a_deadline_that_passes_while_candidates_are_assessed() -> None:
    class SlowRanker(FakeRanker):
        async def rank(self, *args: Any, **kwargs: Any) -> Ranking:
            await asyncio.sleep(0.1)
            return await super().rank(*args, **kwargs)

    generator = FakeGenerator(replace(EARLY, samples=4, wanted=4))
    ranker = SlowRanker(known(GOOD), rank(GOOD, samples=4))
    pipeline = build_pipeline(generator, ranker, sampling_timeout_s=0.05)
    answer = await pipeline.answer(ADAPTIVE)
    assert answer.trace.notes == ("Sampling ended after 0 s with 4 candidates.",)


# -- pre-SQL ---------------------------------------------------------------------------------------

FIRST = build_context(tables=("sales.orders",))
SECOND = build_context(tables=("sales.orders", "sales.customers"))
NEW_NAMES = "SELECT country FROM customers"
OLD_NAMES = "SELECT sum(o.total) AS spent FROM orders o ORDER BY spent"


async def ask_with_draft(
    draft: str | Exception, *contexts: SchemaContext | Exception
) -> tuple[Answer, FakeRetriever]:
    retriever = FakeRetriever(*contexts)
    pipeline = build_pipeline(
        FakeGenerator(build_generated(GOOD.candidate), draft=draft),
        FakeRanker(known(GOOD), rank(GOOD)),
        retriever=retriever,
        pre_sql=True,
    )
    return await pipeline.answer(build_question()), retriever


async def test_a_draft_that_names_anything_new_is_searched_for() -> None:
    answer, retriever = await ask_with_draft(NEW_NAMES, FIRST, SECOND)
    assert retriever.drafts == ["", NEW_NAMES]
    assert isinstance(answer, Answered)
    trace = answer.trace
    assert (trace.draft_query, trace.context) == (NEW_NAMES, SECOND)
    assert trace.route is not None
    stages = {timing.stage: timing for timing in trace.timings}
    assert list(stages)[:4] == ["retrieve", "gate", "draft", "plan"]
    assert (stages["draft"].prompt_tokens, stages["draft"].completion_tokens) == (100, 10)


@pytest.mark.parametrize(
    ("draft", "told"),
    [
        pytest.param("", "", id="empty"),
        pytest.param(EngineUnavailable("Busy."), "", id="no_engine"),
        pytest.param(PromptTooLong("Long."), "", id="too_long"),
        pytest.param(OLD_NAMES, OLD_NAMES, id="nothing_new"),
    ],
)
async def test_without_a_draft_of_anything_new_nothing_changes(
    draft: str | Exception, told: str
) -> None:
    answer, retriever = await ask_with_draft(draft, FIRST)
    assert retriever.drafts == [""]
    assert isinstance(answer, Answered)
    assert (answer.trace.draft_query, answer.trace.context) == (told, FIRST)


async def test_a_policy_that_changed_before_the_second_search_refuses() -> None:
    answer, _ = await ask_with_draft(NEW_NAMES, FIRST, replace(FIRST, refusal="Not for you."))
    assert isinstance(answer, Refused)
    assert answer.reason == "Not for you."


# -- the real stages, over a fake model and a fake database ------------------------------------


async def test_who_may_see_nothing_is_refused_before_anything_is_asked() -> None:
    retriever = FakeRetriever(build_context(refusal="eve has no role here."))
    pipeline = build_pipeline(FakeGenerator(), FakeRanker({}), retriever=retriever)
    answer = await pipeline.answer(build_question())
    assert isinstance(answer, Refused)
    assert (answer.code, answer.reason) == ("not_permitted", "eve has no role here.")


async def test_what_is_withheld_is_told_from_what_cannot_be_run() -> None:
    refused = Violation("not_permitted", "payslips", "payslips is not for you.")
    hidden = build_assessment("c1", verdict=refused)
    ranker = FakeRanker(known(hidden), Ranking((hidden,), samples=1))
    pipeline = build_pipeline(generate(hidden), ranker, FakeRepairer("", ""))
    answer = await pipeline.answer(build_question())
    assert isinstance(answer, Refused)
    assert (answer.code, answer.reason) == ("not_permitted", "payslips is not for you.")


CONTEXT = build_context(tables=("sales.orders", "sales.customers"))


@pytest.mark.parametrize(("names", "draft"), load_cases("draft_names"))
def test_a_name_is_new_if_no_table_in_sight_has_it(names: str, draft: str) -> None:
    assert has_new_names(draft, CONTEXT) is (names == "new")
