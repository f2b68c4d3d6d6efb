"""How many candidates a question gets where nobody says."""

from __future__ import annotations

import pytest

from generation.sampling.allocation import count_round, rate_difficulty
from nl2sql.settings.sampling import SamplingSettings
from nl2sql.types import JoinPlan, Plan, Question, SchemaLink, SchemaLinks
from tests.fakes import SHOP, build_question

SAMPLING = SamplingSettings(k=0)
LONG = "Which of all the customers in the country have not ordered anything this year?"


def plan(joins: int = 0, tables: int = 1, score: float = 1.0) -> Plan:
    links = SchemaLinks(tuple(SchemaLink("x", f"s.t{at}", "", score) for at in range(tables)))
    return Plan(links, JoinPlan(keys=SHOP.foreign_keys[:joins]))


@pytest.mark.parametrize(
    ("question", "found", "points"),
    [
        pytest.param("How many orders?", plan(), 0, id="one table"),
        pytest.param("How many orders?", plan(joins=1, tables=2), 1, id="a join"),
        pytest.param("How many orders?", plan(joins=5, tables=2), 2, id="joins count two at most"),
        pytest.param("How many orders?", plan(tables=3), 1, id="many tables"),
        pytest.param("How many orders?", plan(tables=3, score=0.4), 0, id="guessed links"),
        pytest.param(LONG, plan(), 1, id="many words"),
        pytest.param(LONG, plan(joins=2, tables=3), 4, id="all"),
    ],
)
def test_difficulty_is_counted_in_points(question: str, found: Plan, points: int) -> None:
    assert rate_difficulty(build_question(text=question), found) == points


def list_rounds(question: Question, found: Plan) -> list[int]:
    counts: list[int] = []
    more = True
    while more:
        k, more = count_round(question, found, len(counts))
        counts.append(k)
    return counts


@pytest.mark.parametrize(
    ("question", "found", "rounds"),
    [
        pytest.param(build_question(k=0), plan(), [2, 2, 2, 2], id="easy"),
        pytest.param(build_question(k=0), plan(joins=1), [4, 2, 2], id="default"),
        pytest.param(build_question(text=LONG, k=0), plan(joins=2), [6, 2], id="hard"),
        pytest.param(build_question(k=16), plan(joins=2), [16], id="k of the question"),
    ],
)
def test_rounds_go_on_to_the_most(question: Question, found: Plan, rounds: list[int]) -> None:
    assert list_rounds(question, found) == rounds
