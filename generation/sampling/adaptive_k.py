"""How many candidates a question gets, where nobody says: few for an easy one, more for a hard one.

A first round by how hard the question looks, then rounds of ``k_easy`` until the ranking is settled
or ``k_max`` are drawn. What makes a question hard was read from 300 of Spider's: with no point all
four samples agreed on 67 % of them, with one on 25 %, with more on one in eight.
"""

from __future__ import annotations

from nl2sql.settings.sampling import SamplingSettings
from nl2sql.types import Plan, Question

_MANY_WORDS = 12
_MANY_TABLES = 3
_MOST_JOIN_POINTS = 2
_HARD_POINTS = 3
# A link below it is a guess.
_SURE_LINK = 0.5


def rate_difficulty(question: Question, plan: Plan) -> int:
    """Points from 0 (easy) to 4: a point for each of two joins, many tables, many words."""
    linked = {link.table for link in plan.links.links if link.score >= _SURE_LINK}
    return (
        min(len(plan.joins.keys), _MOST_JOIN_POINTS)
        + (len(linked) >= _MANY_TABLES)
        + (len(question.text.split()) >= _MANY_WORDS)
    )


def count_round(
    question: Question, plan: Plan, sampling: SamplingSettings, round_number: int
) -> tuple[int, bool]:
    """How many samples this round draws, and whether another may follow.

    A question that names its ``k`` gets one round of just so many.
    """
    if question.k:
        return question.k, False
    points = rate_difficulty(question, plan)
    first = sampling.k_default if points else sampling.k_easy
    if points >= _HARD_POINTS:
        first = sampling.k_hard
    drawn = first + max(round_number - 1, 0) * sampling.k_easy if round_number else 0
    wanted = sampling.k_easy if round_number else first
    k = min(wanted, sampling.k_max - drawn)
    return k, drawn + k < sampling.k_max
