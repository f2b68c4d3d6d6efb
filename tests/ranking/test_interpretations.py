"""The interpretations that are given back: the best query of each of the two best groups."""

from __future__ import annotations

from nl2sql.types import Ranking, SchemaContext
from ranking.ranker import build_interpretations
from tests.fakes import build_assessment, build_diagnostic

NOTHING = SchemaContext()
FIRST = build_assessment("c1", sql="SELECT name FROM t WHERE a = 1", rows=[(1,)], group=0, votes=3)
SECOND = build_assessment("c2", sql="SELECT name FROM t", rows=[(2,)], group=1, votes=2)


def test_each_group_is_read_by_its_best_query_and_told_with_its_share() -> None:
    same = build_assessment("c3", sql="SELECT 3", rows=[(1,)], group=0, votes=3)
    third = build_assessment("c4", sql="SELECT 4", rows=[(4,)], group=2, votes=1)
    ranking = Ranking((FIRST, SECOND, same, third), samples=8)
    interpretations = build_interpretations(ranking, NOTHING)
    assert [(interpretation.sql, interpretation.share) for interpretation in interpretations] == [
        (FIRST.candidate.sql, 0.375),
        (SECOND.candidate.sql, 0.25),
    ]
    assert interpretations[0].description.startswith("where a is 1.")


def test_what_failed_or_did_not_run_is_no_interpretation() -> None:
    broken = build_assessment("c3", diagnostic=build_diagnostic(), group=1)
    late = build_assessment("c4", unrun="budget", group=2, votes=4)
    (interpretation,) = build_interpretations(Ranking((late, FIRST, broken), samples=8), NOTHING)
    assert interpretation.sql == FIRST.candidate.sql
    assert interpretation.description == "shows name; of t; where a is 1."


def test_an_interpretation_has_the_first_rows_that_the_vote_read() -> None:
    many = build_assessment("c1", rows=[(number,) for number in range(30)], group=0)
    ranking = Ranking((many, SECOND), samples=2)
    first, second = (each.result for each in build_interpretations(ranking, NOTHING))
    assert first is not None
    assert (len(first.rows), first.truncated) == (20, True)
    assert second is SECOND.result
    (few, _) = build_interpretations(ranking, NOTHING, max_rows=3)
    assert few.result is not None
    assert few.result.rows == ((0,), (1,), (2,))
