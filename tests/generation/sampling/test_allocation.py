"""Who draws how many samples."""

from __future__ import annotations

from generation.sampling.allocation import Draw, deal_samples
from nl2sql.settings.prompt_variants import PromptVariant

ONE = (PromptVariant("a"),)
THREE = (PromptVariant("a"), PromptVariant("b", temperature=1.0), PromptVariant("c"))


def deal(k: int, variants: tuple[PromptVariant, ...] = ONE, **options: int) -> tuple[Draw, ...]:
    return deal_samples(
        k,
        variants,
        seed=5,
        temperature=0.7,
        greedy_first=bool(options.get("greedy_first")),
        round_number=options.get("round_number", 0),
    )


def test_one_variant_is_one_request_with_the_seed_of_the_question() -> None:
    assert deal(4) == (Draw(ONE[0], 4, 5, 0.7),)


def test_every_variant_draws_its_share_at_its_own_temperature() -> None:
    draws = deal(7, THREE)
    assert [(draw.variant.name, draw.k, draw.temperature) for draw in draws] == [
        ("a", 3, 0.7),
        ("b", 2, 1.0),
        ("c", 2, 0.7),
    ]


def test_a_variant_without_a_share_is_not_asked() -> None:
    assert [each.variant.name for each in deal(2, THREE)] == ["a", "b"]


def test_a_single_sample_is_greedy_whatever_the_variant_wants() -> None:
    assert deal(1, THREE[1:]) == (Draw(THREE[1], 1, 5, 0.0),)


def test_the_greedy_sample_is_one_of_the_first_round() -> None:
    draws = deal(4, THREE, greedy_first=1)
    assert [(draw.variant.name, draw.k, draw.temperature) for draw in draws] == [
        ("a", 1, 0.0),
        ("a", 1, 0.7),
        ("b", 1, 1.0),
        ("c", 1, 0.7),
    ]
    assert all(each.temperature for each in deal(2, THREE, greedy_first=1, round_number=1))


def test_a_single_sample_of_a_later_round_is_drawn() -> None:
    assert [each.temperature for each in deal(1, round_number=1)] == [0.7]


def test_no_two_requests_of_a_question_share_a_seed() -> None:
    draws = [
        each
        for number in range(4)
        for each in deal(4, THREE, round_number=number)
        if each.temperature
    ]
    seeds = [draw.seed + at for draw in draws for at in range(draw.k)]
    assert len(set(seeds)) == len(seeds) == 16


def test_rounds_begin_with_another_variant() -> None:
    assert [deal(1, THREE, round_number=number)[0].variant.name for number in (1, 2, 3)] == [
        "b",
        "c",
        "a",
    ]


def test_a_seed_is_one_that_any_server_takes() -> None:
    draws = deal_samples(4, THREE, seed=2**31 - 1, temperature=0.7, round_number=3)
    assert all(0 <= draw.seed < 2**31 for draw in draws)
