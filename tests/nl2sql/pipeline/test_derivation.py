"""Derived candidates are guarded and judged like any other, after the last round."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.pipeline.derivation import derive as derive_candidates
from nl2sql.types import Plan, Ranking
from tests.fakes import (
    FakeGuard,
    FakeRanker,
    FakeRepairer,
    build_assessment,
    build_context,
    build_question,
    build_stages,
)

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


async def test_a_ranking_without_neighbours_is_not_ranked_again() -> None:
    ranker = FakeRanker({})
    assert await derive(FakeRepairer(), ranker, RANKING) is RANKING
    assert ranker.ranked == []


async def test_nothing_is_derived_from_candidates_that_failed() -> None:
    repairer, ranker = FakeRepairer(derived=("derived",)), FakeRanker({})
    failed = Ranking((replace(FIRST, result=None),), samples=1)
    assert await derive(repairer, ranker, failed) is failed
    assert repairer.parents == []
