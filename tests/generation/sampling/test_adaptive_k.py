"""Which variant draws how many candidates, in which round."""

from __future__ import annotations

from typing import Literal

import pytest

from generation.sampling.allocation import deal_samples


@pytest.mark.parametrize(
    ("k", "rounds"),
    [
        pytest.param(1, ["standard 1 0.0"], id="a single one is greedy"),
        pytest.param(3, ["standard 3 0.7"], id="too few for two prompts"),
        pytest.param(4, ["standard 2 0.7, narrow 2 0.7"], id="two prompts"),
        pytest.param(9, ["standard 5 0.7, narrow 4 0.7"], id="the first has the remainder"),
        pytest.param("adaptive", ["narrow 4 0.7", "standard 4 0.7"], id="a prompt each round"),
    ],
)
def test_variants_draw_their_shares(k: int | Literal["adaptive"], rounds: list[str]) -> None:
    for number, expected in enumerate(rounds):
        draws, more = deal_samples(k, seed=5, temperature=0.7, round_number=number)
        found = [f"{draw.variant} {draw.k} {draw.temperature}" for draw in draws]
        assert ", ".join(found) == expected
        assert more == (number + 1 < len(rounds))


@pytest.mark.parametrize("seed", [5, 2**31 - 1])
def test_adaptive_rounds_draw_what_a_fixed_number_draws_and_any_server_takes_the_seeds(
    seed: int,
) -> None:
    rounds = [
        draw
        for number in range(2)
        for draw in deal_samples("adaptive", seed=seed, temperature=0.7, round_number=number)[0]
    ]
    fixed, _ = deal_samples(8, seed=seed, temperature=0.7)
    assert set(rounds) == set(fixed)
    assert fixed[0].seed == seed
    assert all(0 <= draw.seed < 2**31 for draw in fixed)
    assert len({draw.seed + at for draw in fixed for at in range(draw.k)}) == 8
