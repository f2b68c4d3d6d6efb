"""How many samples a round draws, and their distribution over the prompt variants.

With ``k: adaptive`` the first round draws half of ``MOST_ADAPTIVE_K`` from the shortest prompt, and
only where these do not settle the ranking, a second round draws the others from the other prompt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from generation.prompts.prompt_builder import Variant
from nl2sql.settings.pipeline import MOST_ADAPTIVE_K

# Samples are divided among these, if each gets so many: two prompts are better than one from four
# candidates on.
VARIANTS: tuple[Variant, ...] = ("standard", "narrow")
_FEWEST_EACH = 2
# The variant of each round of ``k: adaptive``, the shortest prompt first.
_ROUNDS: tuple[Variant, ...] = ("narrow", "standard")
# Seeds of different requests are this far apart, since engines use seed + i for sample i.
_SEED_STEP = 1009
# OpenAI-compatible servers accept seeds below this.
_SEEDS = 2**31


@dataclass(frozen=True, slots=True)
class Draw:
    """One request: ``k`` samples of one variant's prompt."""

    variant: Variant
    k: int
    seed: int
    temperature: float


def draw_one(seed: int) -> Draw:
    """The likeliest answer alone."""
    return Draw(VARIANTS[0], 1, seed, temperature=0.0)


def deal_samples(
    k: int | Literal["adaptive"], *, seed: int, temperature: float, round_number: int = 0
) -> tuple[tuple[Draw, ...], bool]:
    """The requests of this round, and whether another round may follow.

    A number is one round: one request, or from 4 samples on one of each variant, the first with the
    remainder; a question's only sample is drawn at temperature 0. ``adaptive`` has a round for each
    variant, with the samples that it has in ``MOST_ADAPTIVE_K``.

    >>> draws, more = deal_samples(9, seed=0, temperature=0.7)
    >>> [(draw.variant, draw.k, draw.seed) for draw in draws], more
    ([('standard', 5, 0), ('narrow', 4, 1009)], False)
    """
    if k == 1:
        return (draw_one(seed),), False
    count = MOST_ADAPTIVE_K if k == "adaptive" else k
    shares = (count - count // 2, count // 2)
    if count < _FEWEST_EACH * len(VARIANTS):
        shares = (count, 0)
    draws = tuple(
        Draw(variant, share, (seed + _SEED_STEP * at) % _SEEDS, temperature)
        for at, (variant, share) in enumerate(zip(VARIANTS, shares, strict=True))
        if share
    )
    if k != "adaptive":
        return draws, False
    turn = tuple(draw for draw in draws if draw.variant == _ROUNDS[round_number])
    return turn, round_number + 1 < len(_ROUNDS)
