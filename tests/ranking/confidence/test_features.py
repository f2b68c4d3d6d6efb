"""What a confidence is read from."""

from __future__ import annotations

import math

import pytest

from nl2sql.types import Assessment, Candidate, Ranking
from ranking.confidence.features import measure_features
from ranking.vote.order import vote
from tests.fakes import (
    build_assessment,
    build_context,
    build_diagnostic,
    build_guarded,
    build_question,
)

QUESTION = build_question(text="How many orders are open today")


def measure(*assessments: Assessment, samples: int) -> dict[str, float]:
    return dict(measure_features(QUESTION, build_context(), vote(assessments, samples)))


def test_the_vote_is_told_in_shares_of_all_samples() -> None:
    found = measure(
        build_assessment("c1", samples=4, rows=[(1,)], score=110.0),
        build_assessment("c2", samples=2, rows=[(2,)], score=90.0),
        build_assessment("c3", samples=2, diagnostic=build_diagnostic()),
        samples=8,
    )
    assert found["agreement"] == 0.5
    assert found["margin"] == 0.25
    assert found["executes"] == 0.75
    assert found["groups"] == 1.0
    assert found["samples"] == 3.0
    assert found["score"] == pytest.approx(1.1)
    assert found["score_margin"] == pytest.approx(0.2)


def test_the_winner_tells_of_itself() -> None:
    repaired = Candidate("c1r", "SELECT a FROM t", 2, "repair", "c1", logprob=-0.25)
    winner = build_assessment(
        "c1r", candidate=repaired, rows=[(0,)], verdict=build_guarded("SELECT 1", "s.t", "s.u")
    )
    found = measure(winner, samples=2)
    assert (found["repaired"], found["empty"]) == (1.0, 1.0)
    assert (found["logprob"], found["tables"]) == (-0.25, 2.0)
    assert found["length"] == pytest.approx(math.log2(5), abs=1e-6)


def test_the_lead_is_over_the_second_and_one_plain_sample() -> None:
    ahead = build_assessment("c1", samples=3, score=125.0, rows=[(1,)])
    behind = build_assessment("c2", samples=1, score=100.0, rows=[(2,)])
    found = measure(ahead, behind, samples=4)
    assert found["lead"] == pytest.approx(math.log(3 * math.e / 2), abs=1e-4)
    assert measure(ahead, samples=4)["lead"] == pytest.approx(math.log(3) + 1, abs=1e-4)


def test_words_size_and_names_are_told() -> None:
    winner = build_assessment(
        "c1", sql="SELECT id FROM orders", rows=[(1,)],
        verdict=build_guarded("SELECT 1", "sales.orders"),
    )  # fmt: skip
    context = build_context()
    found = dict(measure_features(QUESTION, context, vote([winner], 1)))
    assert found["catalog"] == pytest.approx(math.log2(1 + context.catalog_tables), abs=1e-6)
    assert (found["cosine"], found["cosine_gap"]) == (0.5, 0.0)
    assert found["words"] == pytest.approx(math.log2(7), abs=1e-6)
    # Of "orders", "open" and "today" the query has one.
    assert found["named"] == pytest.approx(1 / 3, abs=1e-6)


def test_what_is_not_known_is_left_out() -> None:
    ranking = vote([build_assessment("c1", rows=[(1,)])], 1)
    found = dict(measure_features(QUESTION, build_context(tables=("sales.orders",)), ranking))
    assert "logprob" not in found
    assert "cosine_gap" not in found


def test_without_a_winner_there_is_nothing_to_measure() -> None:
    broken = build_assessment("c1", diagnostic=build_diagnostic())
    assert measure_features(QUESTION, build_context(), vote([broken], 1)) == ()
    assert measure_features(QUESTION, build_context(), Ranking()) == ()
