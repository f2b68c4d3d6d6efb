"""How many samples a round draws, and their distribution over the prompt variants.

With ``k: adaptive`` the first round depends on the question's difficulty; further rounds draw
two samples each, until the ranking is settled or ``MOST_ADAPTIVE_K`` are drawn. The points
were derived from 300 questions of Spider: all four samples agreed on 67 % of those with 0 points,
on 25 % with 1 point, and on one in eight with more.
"""

from __future__ import annotations

from dataclasses import dataclass

from generation.prompts.prompt_builder import Variant
from nl2sql.settings.pipeline import MOST_ADAPTIVE_K
from nl2sql.types import Plan, Question

# Samples are divided among these, if each gets so many: two prompts are better than one from four
# candidates on.
VARIANTS: tuple[Variant, ...] = ("standard", "narrow")
_FEWEST_EACH = 2
# Seeds of different requests are this far apart, since engines use seed + i for sample i.
_SEED_STEP = 1009
# OpenAI-compatible servers accept seeds below this.
_SEEDS = 2**31
_MANY_WORDS = 12
_MANY_TABLES = 3
_MOST_JOIN_POINTS = 2
_HARD_POINTS = 3
# Candidates of the first round of easy, most and hard questions; all are even, as is their most.
_K_EASY, _K_MIDDLING, _K_HARD = 2, 4, 6
# Links with a lower score are not counted.
_SURE_LINK = 0.5


@dataclass(frozen=True, slots=True)
class Draw:
    """One request: ``k`` samples of one variant's prompt."""

    variant: Variant
    k: int
    seed: int
    temperature: float


def deal_samples(
    k: int, *, seed: int, temperature: float, round_number: int = 0
) -> tuple[Draw, ...]:
    """One request of a variant, or from 4 samples on one of each, the first with the remainder.

    A later round begins with the next variant and has other seeds. A question's only sample is
    drawn at temperature 0.

    >>> draws = deal_samples(9, seed=0, temperature=0.7)
    >>> [(draw.variant, draw.k, draw.seed) for draw in draws]
    [('standard', 5, 0), ('narrow', 4, 1009)]
    """
    if k == 1 and round_number == 0:
        return (Draw(VARIANTS[0], 1, seed, 0.0),)
    turn = round_number % len(VARIANTS)
    order = (*VARIANTS[turn:], *VARIANTS[:turn])
    shares = (k - k // 2, k // 2) if k >= _FEWEST_EACH * len(VARIANTS) else (k,)
    # A number for each request of each round.
    first = round_number * len(VARIANTS)
    return tuple(
        Draw(variant, share, (seed + _SEED_STEP * number) % _SEEDS, temperature)
        for number, (variant, share) in enumerate(zip(order, shares, strict=False), start=first)
    )


def rate_difficulty(question: Question, plan: Plan) -> int:
    """Points from 0 (easy) to 4: up to two for joins, one for many tables, one for many words."""
    linked = {link.table for link in plan.links if link.score >= _SURE_LINK}
    return (
        min(len(plan.joins.keys), _MOST_JOIN_POINTS)
        + (len(linked) >= _MANY_TABLES)
        + (question.length >= _MANY_WORDS)
    )


def count_round(question: Question, plan: Plan, round_number: int) -> tuple[int, bool]:
    """The number of samples of this round, and whether another round may follow.

    A question with a number gets exactly one round of so many samples.
    """
    if question.k != "adaptive":
        return question.k, False
    points = rate_difficulty(question, plan)
    first = _K_MIDDLING if points else _K_EASY
    if points >= _HARD_POINTS:
        first = _K_HARD
    drawn = first + (round_number - 1) * _K_EASY if round_number else 0
    k = _K_EASY if round_number else first
    return k, drawn + k < MOST_ADAPTIVE_K
