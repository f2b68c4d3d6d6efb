"""How many candidates a question gets where nobody says, and which variant draws how many."""

from __future__ import annotations

import pytest

from generation.sampling.allocation import count_round, deal_samples, rate_difficulty
from nl2sql.types import JoinPlan, Plan, Question, SchemaLink
from tests.fakes import SHOP, build_question

LONG = "Which of all the customers in the country have not ordered anything this year?"


def plan(joins: int = 0, tables: int = 1, score: float = 1.0) -> Plan:
    links = tuple(SchemaLink("x", f"s.t{at}", "", score) for at in range(tables))
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


@pytest.mark.parametrize(
    ("question", "found", "rounds"),
    [
        pytest.param(build_question(k="adaptive"), plan(), [2, 2, 2, 2], id="easy"),
        pytest.param(build_question(k="adaptive"), plan(joins=1), [4, 2, 2], id="default"),
        pytest.param(build_question(text=LONG, k="adaptive"), plan(joins=2), [6, 2], id="hard"),
        pytest.param(build_question(k=16), plan(joins=2), [16], id="k of the question"),
    ],
)
def test_rounds_go_on_to_the_most(question: Question, found: Plan, rounds: list[int]) -> None:
    counted = [count_round(question, found, number) for number in range(len(rounds))]
    assert counted == [(k, number + 1 < len(rounds)) for number, k in enumerate(rounds)]


@pytest.mark.parametrize(
    ("k", "round_number", "expected"),
    [
        (3, 0, "standard 3 0.7"),
        (4, 0, "standard 2 0.7, narrow 2 0.7"),
        (9, 0, "standard 5 0.7, narrow 4 0.7"),
        (1, 0, "standard 1 0.0"),
        (1, 1, "narrow 1 0.7"),
        (1, 2, "standard 1 0.7"),
    ],
)
def test_variants_draw_their_shares(k: int, round_number: int, expected: str) -> None:
    draws = deal_samples(k, seed=5, temperature=0.7, round_number=round_number)
    found = [f"{draw.variant} {draw.k} {draw.temperature}" for draw in draws]
    assert ", ".join(found) == expected


@pytest.mark.parametrize("seed", [5, 2**31 - 1])
def test_no_two_requests_of_a_question_share_a_seed_and_any_server_takes_it(seed: int) -> None:
    draws = [
        draw
        for number in range(4)
        for draw in deal_samples(8, seed=seed, temperature=0.7, round_number=number)
    ]
    assert draws[0].seed == seed
    assert all(0 <= draw.seed < 2**31 for draw in draws)
    assert len({draw.seed + at for draw in draws for at in range(draw.k)}) == 32
