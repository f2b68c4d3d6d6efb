"""What may win against samples that agree, and which answers are given, over any rankings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from nl2sql.answers import Answered, Clarify, Trace
from nl2sql.pipeline.conclusion import conclude
from nl2sql.types import (
    Assessment,
    Candidate,
    Explained,
    Ranking,
    Score,
    ScoreTerm,
)
from ranking.confidence.calibration import load_calibration
from ranking.ranker import CandidateRanker
from ranking.vote.order import says_nothing, vote
from serve_app.operations.variants import override
from tests.fakes import (
    FakeExecutor,
    FakeGuard,
    build_assessment,
    build_context,
    build_diagnostic,
    build_question,
    build_result,
    build_settings,
    build_violation,
)

QUESTION, CONTEXT = build_question(), build_context()
FITTED = load_calibration()
FATES: tuple[dict[str, Any], ...] = (
    *({"rows": rows} for rows in ([], [(0,)], [(None,)], [(1,)], [(2,)], [(2,)])),
    {"diagnostic": build_diagnostic()},
    {"verdict": build_violation()},
    {"unrun": "timeout"},
    {"unrun": "estimate", "diagnostic": build_diagnostic(), "explained": Explained(9, 9)},
)


@st.composite
def draw_candidates(draw: st.DrawFn) -> tuple[Assessment, ...]:
    """Sampled, repaired and derived candidates of all fates and scores."""
    made: list[Assessment] = []
    for number in range(1, draw(st.integers(1, 6)) + 1):
        origin = draw(st.sampled_from(["sample", "repair", "derived"] if made else ["sample"]))
        is_derived = origin == "derived"
        candidate = Candidate(
            f"c{number}",
            f"SELECT {number}",
            samples=0 if is_derived else draw(st.integers(0, 4)),
            origin=origin,
            derived_from="c1" if is_derived else "",
            rule="grounded_values" if is_derived else "",
        )
        terms = [ScoreTerm("base", draw(st.floats(-200, 300)))]
        fate = build_assessment(sql=candidate.sql, **draw(st.sampled_from(FATES)))
        made.append(replace(fate, candidate=candidate, score=Score(tuple(terms))))
    return tuple(made)


def find_agreement(ranking: Ranking) -> Assessment | None:
    """A sample of those that ran as they were drawn, if they are a quorum and nothing differs."""
    voting = [each for each in ranking.assessments if each.candidate.samples and each.group >= 0]
    drawn = [each for each in voting if each.candidate.origin == "sample" and each.result]
    count = sum(each.candidate.samples for each in drawn)
    if len({each.group for each in voting}) != 1 or count < 2 or count * 2 <= ranking.samples:
        return None
    return drawn[0]


@settings(max_examples=500, deadline=None)
@given(
    made=draw_candidates(),
    lost=st.integers(0, 2),
    change=st.sampled_from(["", "ranking.min_confidence=0", "ranking.min_confidence=0.6"]),
    has_vote=st.booleans(),
)
async def test_no_guess_beats_agreement_and_no_answer_is_below_the_threshold(
    made: tuple[Assessment, ...], lost: int, change: str, has_vote: bool
) -> None:
    changed = override(build_settings(flags={"vote": has_vote}), (change,) if change else ())
    executor = FakeExecutor({each.candidate.sql: [build_result((3,))] * 9 for each in made})
    ranker = CandidateRanker(FakeGuard(), executor, changed, FITTED)
    samples = sum(each.candidate.samples for each in made) + lost
    ranking = await ranker.rank(QUESTION, made, samples=samples)
    ranking = await ranker.conclude(QUESTION, CONTEXT, ranking)
    answer = conclude(ranking, Trace(QUESTION))
    if isinstance(answer, Answered):
        assert answer.confidence >= ranking.threshold > 0
    elif isinstance(answer, Clarify):
        assert answer.confidence < ranking.threshold
        assert answer.interpretations
        assert answer.reason
    agreed, winner = find_agreement(ranking), ranking.winner
    if has_vote and agreed and winner and winner.group != agreed.group:
        assert says_nothing(agreed.result)
        assert not says_nothing(winner.result)


GUESS = Candidate("d1", "SELECT 'd1'", 0, "derived", derived_from="c1", rule="grounded_values")
ASKED = replace(GUESS, rule="compared_values")
FAULTY = Score((ScoreTerm("base", 100.0), ScoreTerm("spellings_missed", -75.0)))
FINE = Score((ScoreTerm("base", 200.0),))


@pytest.mark.parametrize(
    ("samples", "guess", "wins"),
    [
        ({}, {}, False),
        ({"definitions": ("revenue",)}, {}, False),
        ({}, {"definitions": ("revenue",)}, True),
        ({"score": FAULTY}, {}, True),
        ({}, {"definitions": ("revenue",), "score": FAULTY}, False),
        ({}, {"candidate": ASKED}, True),
        ({}, {"candidate": ASKED, "score": FAULTY}, False),
        ({"diagnostic": build_diagnostic(), "result": None}, {}, True),
    ],
    ids="plain less definition fault faulty_definition asked faulty_asked failed".split(),
)
def test_a_guess_wins_where_it_mends_a_failure(
    samples: dict[str, Any], guess: dict[str, Any], wins: bool
) -> None:
    agreeing = replace(build_assessment("c1", samples=4, rows=[(1,)]), **samples)
    derived = build_assessment("d1", candidate=GUESS, rows=[(2,)])
    ranking = vote([agreeing, replace(derived, **{"score": FINE, **guess})], 4)
    assert (ranking.assessments[0].candidate.id == "d1") == wins
    # What contradicts stays, so that it lowers the confidence and can be chosen.
    assert ranking.assessments[-1].candidate.id == ("c1" if wins else "d1")
