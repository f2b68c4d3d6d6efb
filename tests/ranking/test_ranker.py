"""Guard before EXPLAIN before execution, for every candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from nl2sql.errors import Busy
from nl2sql.types import (
    Assessment,
    Candidate,
    Diagnostic,
    Plan,
    Ranking,
    Violation,
)
from ranking.confidence.calibration import Calibration, Weight, load_calibration
from ranking.ranker import CandidateRanker
from ranking.vote.polling import VOTE_LIMITS
from serve_app.operations.variants import override
from tests.fakes import (
    FakeExecutor,
    FakeGuard,
    build_assessment,
    build_candidate,
    build_context,
    build_diagnostic,
    build_guarded,
    build_question,
    build_result,
    build_settings,
    build_stages,
    build_violation,
)

QUESTION = build_question(text="Show me orders", max_rows=7)
OFF_KEYS = "SELECT count(*) FROM customers WHERE id IN (SELECT id FROM orders)"
CONTEXT = build_context()


def build_ranker(guard: FakeGuard, executor: FakeExecutor, **flags: bool) -> CandidateRanker:
    return CandidateRanker(guard, executor, build_settings(flags=flags), load_calibration())


async def assess(
    ranker: CandidateRanker, candidate: Candidate, guard: FakeGuard | None = None
) -> Assessment:
    stages = build_stages(guard=guard, ranker=ranker)
    return await stages.check_and_assess(QUESTION, candidate, CONTEXT, Plan())


async def conclude(
    executor: FakeExecutor, *assessed: Candidate | Assessment, samples: int = 1
) -> Ranking:
    """What comes of these candidates in the end."""
    ranker = build_ranker(FakeGuard(), executor)
    assessments = [
        each if isinstance(each, Assessment) else await assess(ranker, each) for each in assessed
    ]
    ranking = await ranker.rank(QUESTION, tuple(assessments), samples=samples)
    return await ranker.conclude(QUESTION, CONTEXT, ranking)


async def test_a_refused_candidate_never_reaches_the_executor() -> None:
    executor = FakeExecutor()
    guard = FakeGuard({"DROP": build_violation("not_a_query")})
    ranker = build_ranker(guard, executor)
    assessment = await assess(ranker, build_candidate("DROP"), guard)
    ranking = await ranker.rank(QUESTION, (assessment,), samples=4)
    assert isinstance(assessment.verdict, Violation)
    assert assessment.verdict.code == "not_a_query"
    assert ranking.winner is None
    assert executor.explained == []
    assert executor.executed == []


async def test_what_is_explained_and_executed_is_what_the_guard_returned() -> None:
    safe = build_guarded('SELECT id FROM "sales"."orders"', "sales.orders")
    guard = FakeGuard({"select id from orders": safe})
    executor = FakeExecutor({safe.sql: [build_result((1,))]})
    ranker = build_ranker(guard, executor)
    candidate = build_candidate("select id from orders")
    ranking = await ranker.rank(QUESTION, (await assess(ranker, candidate, guard),), samples=4)
    assert guard.guarded == [("shop", "select id from orders", QUESTION.principal)]
    assert executor.explained == [safe]
    assert executor.executed == [(safe, VOTE_LIMITS.rows)]
    assert ranking.winner is not None
    assert ranking.winner.verdict is safe


async def test_an_explain_that_fails_is_a_diagnostic_and_is_not_executed() -> None:
    executor = FakeExecutor(explains={"SELECT x": [build_diagnostic("no x")]})
    ranker = build_ranker(FakeGuard(), executor)
    assessment = await assess(ranker, build_candidate("SELECT x"))
    await ranker.rank(QUESTION, (assessment,), samples=4)
    assert assessment.diagnostic is not None
    assert assessment.diagnostic.message == "no x"
    assert assessment.explained is None
    assert [term.name for term in assessment.score.terms] == [
        "base",
        "explain_fails",
        "outputs_unasked",
        "words_unused",
    ]
    assert executor.executed == []


@pytest.mark.parametrize(
    ("votes", "order"),
    [(True, ["c3", "c2", "c1"]), (False, ["c2", "c1", "c3"])],
    ids=["vote", "first with a result"],
)
async def test_the_vote_decides_or_the_first_with_a_result_leads(
    votes: bool, order: list[str]
) -> None:
    broken = build_assessment("c1", diagnostic=build_diagnostic())
    few = build_assessment("c2", samples=1, rows=[(1,)])
    many = build_assessment("c3", samples=3, rows=[(2,)])
    ranker = build_ranker(FakeGuard(), FakeExecutor(), vote=votes)
    ranking = await ranker.rank(QUESTION, (broken, few, many), samples=5)
    assert [assessment.candidate.id for assessment in ranking.assessments] == order
    # Without a vote the first is as sure as its own samples.
    assert ranking.samples == (5 if votes else 1)
    assert ranking.quorum == votes


# -- the last word -----------------------------------------------------------------------------


async def test_the_page_that_was_asked_for_is_cut_from_what_the_vote_saw() -> None:
    executor = FakeExecutor({"SELECT 1": [build_result(*[(at,) for at in range(9)])]})
    concluded = await conclude(executor, build_candidate("SELECT 1"))
    assert concluded.winner is not None
    assert concluded.winner.result is not None
    assert len(concluded.winner.result.rows) == QUESTION.max_rows
    assert concluded.winner.result.truncated
    assert len(executor.executed) == 1


async def test_a_winner_is_told_in_words_and_why_it_finds_nothing() -> None:
    sql = "SELECT name FROM customers WHERE country = 'Frankreich'"
    probe = """SELECT 1 FROM "sales"."customers" WHERE "country" = 'Frankreich' LIMIT 1"""
    filled = """SELECT 1 FROM "sales"."customers" WHERE NOT "country" IS NULL LIMIT 1"""
    found = {sql: [build_result()], probe: [build_result()], filled: [build_result((1,))]}
    executor = FakeExecutor(found)
    concluded = await conclude(executor, build_candidate(sql))
    assert concluded.description == "shows name; of customers; where country is 'Frankreich'."
    assert concluded.notes == ("No row that you may see has customers.country = 'Frankreich'.",)
    assert dict(concluded.features)["unstored"] == 1.0


async def test_text_that_could_not_be_read_whole_is_told() -> None:
    executor = FakeExecutor({"SELECT 1": [build_result(("C\ufffdte d'Ivoire",))]})
    (note,) = (await conclude(executor, build_candidate("SELECT 1"))).notes
    assert "not valid UTF-8" in note


PRESENT = Candidate("d1", "SELECT 1", 0, "derived", derived_from="c1", rule="present_rows")


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("present_rows", "rows whose period has ended are left out"),
        ("nulls_last", "no value does not come first"),
    ],
)
async def test_rows_that_a_rule_leaves_out_are_told(rule: str, told: str) -> None:
    executor = FakeExecutor({"SELECT 1": [build_result((809,))]})
    (note,) = (await conclude(executor, replace(PRESENT, rule=rule))).notes
    assert told in note


async def test_a_winner_has_the_note_of_the_rule_behind_what_it_derives_from() -> None:
    named = Candidate("d2", "SELECT 'a'", 0, "derived", derived_from="d1", rule="shown_names")
    executor = FakeExecutor({"SELECT 'a'": [build_result(("a",))]})
    failed = build_assessment("d1", candidate=PRESENT, diagnostic=build_diagnostic("late"))
    concluded = await conclude(executor, named, failed)
    assert concluded.winner is not None
    assert concluded.winner.candidate.id == "d2"
    (note,) = concluded.notes
    assert "rows whose period has ended are left out" in note


LATE = build_diagnostic("late", sqlstate="57014")
SLOW = build_assessment("c1", sql="slow", samples=3)
FAST = build_assessment("c2", sql="fast")


async def test_a_leader_that_the_vote_did_not_wait_for_is_run_in_the_end() -> None:
    executor = FakeExecutor({"slow": [LATE, build_result((1,))], "fast": [build_result((2,))]})
    ranker = build_ranker(FakeGuard(), executor)
    ranking = await ranker.rank(QUESTION, (SLOW, FAST), samples=4)
    assert [assessment.unrun for assessment in ranking.assessments] == ["timeout", ""]
    concluded = await ranker.conclude(QUESTION, CONTEXT, ranking)
    assert concluded.winner is not None
    assert concluded.winner.candidate.id == "c1"
    assert executor.limits[-1] is None


@pytest.mark.parametrize("failure", [LATE, Busy("The database is busy.", retry_after_s=1)])
async def test_where_the_leader_fails_in_the_end_the_next_one_leads(
    failure: Diagnostic | Busy,
) -> None:
    executor = FakeExecutor({"slow": [LATE, failure], "fast": [build_result((2,))]})
    concluded = await conclude(executor, SLOW, FAST, samples=4)
    assert [assessment.candidate.id for assessment in concluded.assessments] == ["c2", "c1"]
    assert concluded.assessments[1].failed
    assert not concluded.quorum
    if isinstance(failure, Busy):
        with pytest.raises(Busy):  # without a next one
            await conclude(FakeExecutor({"slow": [LATE, failure]}), SLOW, samples=4)


async def test_a_calibration_makes_the_confidence_and_its_features_are_told() -> None:
    calibration = Calibration(0.0, (Weight("agreement", 0.5, 0.5, 2.0),), 2, 8)
    settings = build_settings()
    ranker = CandidateRanker(FakeGuard(), FakeExecutor(), settings, calibration)
    ranking = await ranker.rank(
        QUESTION, (build_assessment("c1", samples=4, rows=[(1,)]),), samples=4
    )
    concluded = await ranker.conclude(QUESTION, CONTEXT, ranking)
    assert concluded.confidence == pytest.approx(0.8808, abs=1e-4)  # 1 / (1 + exp(-2))
    assert dict(concluded.features)["agreement"] == 1.0


@pytest.mark.parametrize(
    ("overrides", "samples", "threshold"),
    [
        ((), 4, 0.9),
        (("ranking.min_confidence=0.3",), 4, 0.3),
        (("ranking.min_confidence=0",), 4, 0.0001),
        ((), 1, 0.9),
        (("vote=false",), 4, 0.9),
    ],
    ids=["fitted", "set", "always", "one sample", "no vote"],
)
async def test_the_bar_is_the_calibration_s_unless_one_is_set(
    overrides: tuple[str, ...], samples: int, threshold: float
) -> None:
    calibration = Calibration(0.0, (Weight("agreement", 0.5, 0.5, 2.0),), 2, 8, threshold=0.9)
    settings = override(build_settings(), overrides)
    ranker = CandidateRanker(FakeGuard(), FakeExecutor(), settings, calibration)
    assessed = build_assessment("c1", samples=samples, rows=[(1,)])
    ranking = await ranker.rank(QUESTION, (assessed,), samples=samples)
    concluded = await ranker.conclude(QUESTION, CONTEXT, ranking)
    assert concluded.threshold == threshold
    # Interpretations are offered below the bar, and not else.
    below = concluded.confidence < threshold
    assert bool(concluded.interpretations) == below


async def test_a_candidate_without_a_turn_is_not_run_rather_than_wrong() -> None:
    busy = Busy("The database is busy.", retry_after_s=1)
    executor = FakeExecutor({"SELECT 1": [build_result((1,))]}, explains={"SELECT 1": [busy]})
    ranker = build_ranker(FakeGuard(), executor)
    assessed = await assess(ranker, build_candidate("SELECT 1"))
    assert (assessed.unrun, assessed.explained, assessed.failed) == ("busy", None, False)
    assert "explain_fails" not in {term.name for term in assessed.score.terms}
    ranking = await ranker.rank(QUESTION, (assessed,), samples=1)
    assert ranking.winner is not None
    assert ranking.winner.unrun == ""


SPAN = """SELECT MIN("status"), MAX("status"), MIN(LENGTH("status")), MAX(LENGTH("status")) \
FROM "sales"."orders\""""


async def conclude_alone(
    asked: str,
    candidate: Candidate,
    *tables: str,
    rows: Sequence[tuple[object, ...]] = ((809,),),
    ends: tuple[object, ...] = (),
) -> Ranking:
    """The ranking of one candidate that the calibration alone would call certain.

    ``ends`` is what is found of ``orders.status``.
    """
    question = build_question(text=asked)
    ranker = CandidateRanker(
        FakeGuard(),
        FakeExecutor({candidate.sql: [build_result(*rows)], SPAN: [build_result(ends)]}),
        build_settings(),
        Calibration(9.0, (), fewest=1, most=8),
    )
    assessed = await ranker.assess(
        question, candidate, build_guarded(candidate.sql, *tables), CONTEXT, Plan()
    )
    ranking = await ranker.rank(question, (assessed,), samples=1)
    return await ranker.conclude(question, CONTEXT, ranking)


@pytest.mark.parametrize(("sql", "tables"), [(OFF_KEYS, ["sales.orders"]), ("SELECT 809", [])])
@pytest.mark.parametrize(("origin", "most"), [("sample", 0.0), ("verified", 1.0)])
async def test_a_query_of_the_model_with_an_error_or_without_a_table_is_never_sure(
    sql: str, tables: list[str], origin: str, most: float
) -> None:
    candidate = build_candidate(sql, origin=origin)
    ranking = await conclude_alone("How many orders are there?", candidate, *tables)
    assert ranking.confidence == pytest.approx(most, abs=0.01)
    assert bool(ranking.notes) == (origin == "sample")


@pytest.mark.parametrize(
    ("asked", "origin", "most", "note"),
    [
        ("How many orders were shipped late?", "sample", 0.0, "to tell what is late."),
        ("How many orders are there and who has the most?", "sample", 0.65, "each by itself."),
        # A person gave it for the whole question.
        ("How many orders are there and who has the most?", "verified", 1.0, ""),
        ("And how many orders are open?", "sample", 1.0, ""),
        ("What share of the orders is open? Round to two decimals.", "sample", 1.0, ""),
        ("How many orders are there? Which is the largest?", "sample", 0.65, "each by itself."),
        ("Can you help me? How many orders are there? Which ones?", "sample", 1.0, ""),
        ("How many orders have customers that pay and who have an account?", "sample", 1.0, ""),
        ("How many orders failed, and who checked them?", "sample", 0.65, "each by itself."),
    ],
)
async def test_what_a_query_leaves_unanswered_is_told_and_lowers_the_confidence(
    asked: str, origin: str, most: float, note: str
) -> None:
    ranking = await conclude_alone(
        asked, build_candidate("SELECT count(*) FROM orders", origin=origin), "sales.orders"
    )
    assert ranking.confidence == pytest.approx(most, abs=0.01)
    assert "".join(ranking.notes).endswith(note)
    assert bool(ranking.notes) == bool(note)


@pytest.mark.parametrize(("rows", "most"), [(1, 1.0), (2, 0.0)])
async def test_figures_that_do_not_show_their_groups_are_not_sure(rows: int, most: float) -> None:
    candidate = build_candidate("SELECT count(*) FROM orders GROUP BY status")
    ranking = await conclude_alone(
        "Orders by status?", candidate, "sales.orders", rows=[(809,)] * rows
    )
    assert ranking.confidence == pytest.approx(most, abs=0.01)
    assert len(ranking.notes) == rows - 1


@pytest.mark.parametrize(
    ("code", "samples", "is_sure"),
    [("not_permitted", 5, False), ("not_permitted", 3, True), ("unknown_table", 5, True)],
)
async def test_where_most_samples_were_not_permitted_another_query_is_not_sure(
    code: str, samples: int, is_sure: bool
) -> None:
    denied = build_assessment("c2", samples=samples, verdict=build_violation(code))
    counted = build_assessment(sql="SELECT count(*) FROM customers", samples=3, rows=[(4,)])
    concluded = await conclude(FakeExecutor(), counted, denied, samples=8)
    assert bool(concluded.confidence) == is_sure
    assert bool(concluded.notes) != is_sure


@pytest.mark.parametrize("rows", [((1,),), ()], ids=["found", "empty"])
async def test_what_compares_numbers_as_texts_is_not_called_probably_right(
    rows: tuple[tuple[int], ...],
) -> None:
    candidate = build_candidate("SELECT id FROM orders ORDER BY status LIMIT 1")
    ranking = await conclude_alone(
        "Which order?", candidate, "sales.orders", rows=rows, ends=("10,000", "9", 1, 6)
    )
    assert ranking.confidence == pytest.approx(0.65)
    assert "letter by letter" in ranking.notes[0]
