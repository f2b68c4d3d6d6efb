"""Rounds of sampling, of repair and of derived candidates: what each adds, and when they end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nl2sql.pipeline.candidates import derive as derive_candidates, merge_round
from nl2sql.pipeline.repair_loop import RepairLoop
from nl2sql.types import (
    Assessment,
    Candidate,
    Plan,
    Ranking,
    Repair,
)
from tests.fakes import (
    FakeGuard,
    FakeRanker,
    FakeRepairer,
    build_assessment,
    build_context,
    build_diagnostic,
    build_question,
    build_stages,
    build_violation,
)


def build(name: str, sql: str, samples: int, repairs: str = "", failed: bool = False) -> Assessment:
    assessment = build_assessment(name, sql=sql, diagnostic=build_diagnostic() if failed else None)
    candidate = replace(assessment.candidate, samples=samples, repairs=repairs)
    return replace(assessment, candidate=candidate)


def count(assessments: tuple[Assessment, ...]) -> dict[str, int]:
    return {assessment.candidate.id: assessment.candidate.samples for assessment in assessments}


def test_a_query_that_is_known_adds_its_samples() -> None:
    known, new = merge_round(
        (build("c1", "SELECT a FROM t", 2),),
        (Candidate("c1", "SELECT b FROM t"), Candidate("c2", "SELECT x.a FROM t AS x", samples=3)),
        "postgres",
    )
    assert count(known) == {"c1": 5}
    assert [(added.id, added.sql, added.samples) for added in new] == [("c2", "SELECT b FROM t", 1)]


def test_samples_of_a_repaired_query_go_to_its_repair() -> None:
    known = (
        build("c1", "SELECT a", 0, failed=True),
        build("c1r", "SELECT aa", 0, "c1", failed=True),
        build("c1rr", "SELECT aaa", 2, "c1r"),
    )
    merged, new = merge_round(known, (Candidate("c1", "SELECT a", samples=2),), "postgres")
    assert count(merged) == {"c1": 0, "c1r": 0, "c1rr": 4}
    assert new == ()


GOOD = build_assessment("c1", sql="good", samples=3, rows=[(7,)], group=0)
OTHER = build_assessment("c2", sql="other", rows=[(8,)], group=1)
BAD = build_assessment("c2", sql="bad", verdict=build_violation(), explained=None)
BROKEN = build_assessment("c3", sql="broken", samples=2, diagnostic=build_diagnostic())


def rank(*assessments: Assessment, quorum: bool = False, samples: int = 4) -> Ranking:
    return Ranking(assessments, samples=samples, quorum=quorum)


def build_repair(repairs: Assessment, sql: str, **overrides: object) -> Assessment:
    """What becomes of a repair of that candidate; it works unless told otherwise."""
    name = repairs.candidate.id
    candidate = Candidate(f"{name}r", sql, 0, "repair", name)
    return build_assessment(candidate=candidate, **overrides)  # type: ignore[arg-type]


ASKED = (build_question(), build_context(), Plan())


async def run(
    first: Ranking,
    ranker: FakeRanker,
    repairer: FakeRepairer,
    *,
    is_last: bool = True,
    ask_model: bool = False,
) -> tuple[Ranking, tuple[Repair, ...]]:
    loop = RepairLoop(build_stages(ranker=ranker, repairer=repairer), *ASKED)
    return await loop.run(first, is_last=is_last, ask_model=ask_model)


def outcomes(attempts: tuple[Repair, ...]) -> list[tuple[str, str]]:
    return [(attempt.candidate, attempt.outcome) for attempt in attempts]


@pytest.mark.parametrize(
    ("first", "tried"),
    [
        pytest.param(rank(GOOD, BAD, quorum=True), 0, id="quorum"),
        pytest.param(rank(GOOD, OTHER), 0, id="nothing_failed"),
        pytest.param(rank(GOOD, BAD), 1, id="no_quorum_and_a_failure"),
        pytest.param(rank(BAD, BROKEN), 2, id="nothing_but_failures"),
    ],
)
async def test_a_repair_needs_a_failure_and_a_reason(first: Ranking, tried: int) -> None:
    repairer = FakeRepairer(*[""] * tried)
    ranking, _ = await run(first, FakeRanker({}), repairer)
    assert len(repairer.failed) == tried
    assert count(ranking.assessments) == count(first.assessments)


async def test_a_repair_that_works_takes_over_the_samples() -> None:
    fixed = build_repair(BROKEN, "fixed")
    ranker = FakeRanker({"fixed": fixed}, rank(fixed, GOOD, BROKEN))
    _, attempts = await run(rank(GOOD, BROKEN), ranker, FakeRepairer("fixed"))
    assert [attempt.outcome for attempt in attempts] == ["fixed"]
    assert count(ranker.ranked[0]) == {"c1": 3, "c3": 0, "c3r": 2}


async def test_a_repair_that_fails_again_is_repaired_again_and_takes_over_nothing() -> None:
    again = build_repair(BROKEN, "again", diagnostic=build_diagnostic())
    fixed = build_repair(again, "fixed")
    ranker = FakeRanker(
        {"again": again, "fixed": fixed}, rank(BROKEN, again), rank(fixed, BROKEN, again)
    )
    repairer = FakeRepairer("again", "fixed")
    _, attempts = await run(rank(BROKEN), ranker, repairer)
    assert outcomes(attempts) == [("c3", "failed"), ("c3r", "fixed")]
    assert count(ranker.ranked[0]) == {"c3": 2, "c3r": 0}
    # The whole chain hands over.
    assert count(ranker.ranked[1]) == {"c3": 0, "c3r": 0, "c3rr": 2}
    histories = [[*count(history)] for history in repairer.histories]
    assert histories == [[], ["c3"]]


@pytest.mark.parametrize(
    ("first", "is_last", "listed"),
    [
        pytest.param(rank(GOOD, BAD), True, [], id="another_candidate_works"),
        pytest.param(rank(BAD), False, [], id="more_samples_are_to_come"),
        pytest.param(rank(BAD), True, [("c2", "none")], id="none_works"),
    ],
)
async def test_what_no_rule_could_repair_is_listed_where_nothing_works(
    first: Ranking, is_last: bool, listed: list[tuple[str, str]]
) -> None:
    _, attempts = await run(first, FakeRanker({}), FakeRepairer(""), is_last=is_last)
    assert outcomes(attempts) == listed
    repairer = FakeRepairer("", "")
    await run(first, FakeRanker({}), repairer, is_last=is_last, ask_model=True)
    assert repairer.may_ask_model == ([False, True] if listed else [False])


async def test_what_no_rule_could_repair_is_not_handed_to_them_in_a_later_round() -> None:
    """The model is asked for the best alone."""
    repairer = FakeRepairer("", "", "")
    loop = RepairLoop(build_stages(repairer=repairer), *ASKED)
    await loop.run(rank(BAD), is_last=False)
    _, attempts = await loop.run(rank(BAD, BROKEN), is_last=True, ask_model=True)
    assert [failed.candidate.id for failed in repairer.failed] == ["c2", "c3", "c2"]
    assert repairer.may_ask_model == [False, False, True]
    assert [attempt.candidate for attempt in attempts] == ["c2", "c3"]


async def test_repairs_that_come_to_one_query_are_assessed_once_and_stay_two_candidates() -> None:
    made = build_assessment("c9", sql="good", rows=[(7,)])
    ranker = FakeRanker({"good": made}, rank(GOOD, quorum=True))
    await run(rank(BAD, BROKEN), ranker, FakeRepairer("good", "good"))
    assert len(ranker.assessed) == 1
    (ranked,) = ranker.ranked
    assert [*count(ranked[-2:])] == ["c2r", "c3r"]
    assert {repair.verdict for repair in ranked[-2:]} == {made.verdict}


FIRST = build_assessment("c1", sql="first", samples=3, rows=[(7,)], group=0)
EQUAL = build_assessment("c2", sql="equal", rows=[(7,)], group=0)
SECOND = build_assessment("c3", sql="second", rows=[(8,)], group=1)
THIRD = build_assessment("c4", sql="third", rows=[(9,)], group=2)
DERIVED = build_assessment("d1", sql="derived", samples=0, rows=[(1,)], group=3)
RANKING = Ranking((FIRST, EQUAL, SECOND, THIRD), samples=6)


async def derive(repairer: FakeRepairer, ranker: FakeRanker, ranking: Ranking) -> Ranking:
    guard = FakeGuard()
    stages = build_stages(guard=guard, ranker=ranker, repairer=repairer)
    made = await derive_candidates(stages, build_question(), build_context(), Plan(), ranking)
    judged = [candidate.sql for candidate in ranker.assessed]
    assert [sql for _, sql, _ in guard.guarded] == judged, "nothing is assessed unguarded"
    return made


async def test_the_best_three_candidates_are_the_parents() -> None:
    repairer = FakeRepairer(derived=("derived",))
    after = replace(RANKING, assessments=(DERIVED, FIRST))
    ranker = FakeRanker({"derived": DERIVED}, after)
    assert await derive(repairer, ranker, RANKING) is after
    assert [[parent.id for parent in parents] for parents in repairer.parents] == [
        ["c1", "c2", "c3"]
    ]
    assert ranker.ranked[0][:-1] == RANKING.assessments
    assert ranker.ranked[0][-1] is DERIVED
    (last,) = ranker.assessed
    assert (last.id, last.samples, last.derived_from, last.rule) == ("d1", 0, "c1", "fake")


async def test_nothing_is_derived_from_candidates_that_failed() -> None:
    repairer, ranker = FakeRepairer(derived=("derived",)), FakeRanker({})
    failed = Ranking((replace(FIRST, result=None),), samples=1)
    assert await derive(repairer, ranker, failed) is failed
    assert repairer.parents == []
