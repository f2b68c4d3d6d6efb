"""Who draws how many samples."""

from __future__ import annotations

from typing import Any

import pytest

from generation.sampling.allocation import Draw, deal_samples
from nl2sql.settings.sampling import Variant

ONE: tuple[Variant, ...] = ("standard",)
TWO: tuple[Variant, ...] = ("standard", "narrow")


def deal(k: int, variants: tuple[Variant, ...] = ONE, **options: Any) -> tuple[Draw, ...]:
    return deal_samples(k, variants, seed=5, temperature=0.7, **options)


def test_one_variant_is_one_request_with_the_seed_of_the_question() -> None:
    assert deal(4) == (Draw(ONE[0], 4, 5, 0.7),)


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        (deal(7, TWO), "standard 4 0.7, narrow 3 0.7"),
        (deal(1, TWO[1:]), "narrow 1 0.0"),
        (deal(1, round_number=1), "standard 1 0.7"),
        (deal(1, TWO, round_number=1), "narrow 1 0.7"),
        (deal(1, TWO, round_number=2), "standard 1 0.7"),
    ],
    ids=["shares", "single", "later", "the second", "the first again"],
)
def test_variants_draw_their_shares(draws: tuple[Draw, ...], expected: str) -> None:
    found = [f"{draw.variant} {draw.k} {draw.temperature}" for draw in draws]
    assert ", ".join(found) == expected


def test_no_two_requests_of_a_question_share_a_seed() -> None:
    draws = [draw for number in range(4) for draw in deal(4, TWO, round_number=number)]
    seeds = [draw.seed + at for draw in draws for at in range(draw.k) if draw.temperature]
    assert len(set(seeds)) == len(seeds) == 16


def test_a_seed_is_one_that_any_server_takes() -> None:
    draws = deal_samples(4, TWO, seed=2**31 - 1, temperature=0.7, round_number=3)
    assert all(0 <= draw.seed < 2**31 for draw in draws)


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, "standard 1"),
        (7, "standard 7"),
        (8, "standard 4, narrow 4"),
        (9, "standard 5, narrow 4"),
    ],
)
def test_a_variant_is_left_out_if_its_share_were_too_small(k: int, expected: str) -> None:
    draws = deal(k, TWO, least=4)
    assert ", ".join(f"{draw.variant} {draw.k}" for draw in draws) == expected
