"""Deals the samples of a round over the prompt variants: one request to the engine for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nl2sql.settings.prompt_variants import PromptVariant

# An engine counts on from a request's seed for each of its samples: so far apart, none meet.
_SEED_STEP = 1009
# What an OpenAI-compatible server surely takes.
_SEEDS = 2**31


@dataclass(frozen=True, slots=True)
class Draw:
    """One request: ``k`` samples of one variant's prompt."""

    variant: PromptVariant
    k: int
    seed: int
    temperature: float


def deal_samples(
    k: int,
    variants: Sequence[PromptVariant],
    *,
    seed: int,
    temperature: float,
    greedy_first: bool = False,
    round_number: int = 0,
) -> tuple[Draw, ...]:
    """Who draws how many of ``k``; the first variant gets what does not divide.

    A later round begins with the next variant, under seeds of its own. A single sample is drawn at
    temperature 0, and with ``greedy_first`` the first of several.

    >>> two = (PromptVariant("a"), PromptVariant("b", temperature=1.0))
    >>> draws = deal_samples(5, two, seed=0, temperature=0.7)
    >>> [(draw.variant.name, draw.k, draw.seed, draw.temperature) for draw in draws]
    [('a', 3, 0, 0.7), ('b', 2, 1009, 1.0)]
    """
    turn = round_number % len(variants)
    order = (*variants[turn:], *variants[:turn])
    greedy = int(round_number == 0 and (greedy_first or k == 1))
    shares = split_evenly(k - greedy, len(order))
    # One number for each request of each round; a greedy one needs none, and comes first.
    numbers = range(round_number * len(order), (round_number + 1) * len(order))
    draws = [
        Draw(
            variant,
            share,
            (seed + _SEED_STEP * number) % _SEEDS,
            temperature if variant.temperature is None else variant.temperature,
        )
        for variant, share, number in zip(order, shares, numbers, strict=True)
        if share
    ]
    return (*(Draw(order[0], 1, seed, 0.0) for _ in range(greedy)), *draws)


def split_evenly(total: int, parts: int) -> tuple[int, ...]:
    """``total`` in equal parts, the rest with the first; ones as far as they go if it is less.

    >>> split_evenly(5, 2), split_evenly(8, 3), split_evenly(2, 3)
    ((3, 2), (4, 2, 2), (1, 1, 0))
    """
    if total < parts:
        return (1,) * total + (0,) * (parts - total)
    share, rest = divmod(total, parts)
    return (share + rest,) + (share,) * (parts - 1)
