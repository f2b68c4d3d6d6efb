"""Who draws how many samples."""

from __future__ import annotations

from typing import Any

import pytest

from generation.sampling.allocation import Draw, deal_samples
from nl2sql.settings.prompt_variants import PromptVariant

ONE = (PromptVariant("a"),)
THREE = (PromptVariant("a"), PromptVariant("b", temperature=1.0), PromptVariant("c"))


def deal(k: int, variants: tuple[PromptVariant, ...] = ONE, **options: Any) -> tuple[Draw, ...]:
    return deal_samples(k, variants, seed=5, temperature=0.7, **options)


def test_one_variant_is_one_request_with_the_seed_of_the_question() -> None:
    assert deal(4) == (Draw(ONE[0], 4, 5, 0.7),)


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        (deal(7, THREE), "a 3 0.7, b 2 1.0, c 2 0.7"),
        (deal(2, THREE), "a 1 0.7, b 1 1.0"),
        (deal(1, THREE[1:]), "b 1 0.0"),
        (deal(4, THREE, greedy_first=True), "a 1 0.0, a 1 0.7, b 1 1.0, c 1 0.7"),
        (deal(2, THREE, greedy_first=True, round_number=1), "b 1 1.0, c 1 0.7"),
        (deal(1, round_number=1), "a 1 0.7"),
        (deal(1, THREE, round_number=1), "b 1 1.0"),
        (deal(1, THREE, round_number=2), "c 1 0.7"),
        (deal(1, THREE, round_number=3), "a 1 0.7"),
    ],
    ids=["shares", "no share", "single", "greedy", "greedy later", "later", "b", "c", "a again"],
)
def test_variants_draw_their_shares_at_their_temperatures(
    draws: tuple[Draw, ...], expected: str
) -> None:
    found = [f"{draw.variant.name} {draw.k} {draw.temperature}" for draw in draws]
    assert ", ".join(found) == expected


def test_no_two_requests_of_a_question_share_a_seed() -> None:
    draws = [draw for number in range(4) for draw in deal(4, THREE, round_number=number)]
    seeds = [draw.seed + at for draw in draws for at in range(draw.k) if draw.temperature]
    assert len(set(seeds)) == len(seeds) == 16


def test_a_seed_is_one_that_any_server_takes() -> None:
    draws = deal_samples(4, THREE, seed=2**31 - 1, temperature=0.7, round_number=3)
    assert all(0 <= draw.seed < 2**31 for draw in draws)


@pytest.mark.parametrize(
    ("k", "expected"),
    [(1, "a 1"), (7, "a 7"), (8, "a 4, b 4"), (11, "a 6, b 5"), (12, "a 4, b 4, c 4")],
)
def test_a_variant_is_left_out_if_its_share_were_too_small(k: int, expected: str) -> None:
    draws = deal(k, THREE, least=4)
    assert ", ".join(f"{draw.variant.name} {draw.k}" for draw in draws) == expected
