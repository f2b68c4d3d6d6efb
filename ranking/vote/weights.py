"""Computes the weight of a candidate's sample in the vote: a product of named factors.

Each factor has a setting that switches it off. The logarithm of the product is a sum, so only
differences between candidates count: adding ten points to every score changes nothing.
"""

from __future__ import annotations

import math

from nl2sql.settings.ranking import RankingSettings
from nl2sql.types import Assessment, ResultSet

# The limit of the factors of a score and a log-probability, whatever the settings.
_MOST_LOG = 6.0


def weigh_sample(assessment: Assessment, settings: RankingSettings) -> float:
    """The product of all factors: 1 if all of them are switched off."""
    return math.prod(factor for _, factor in list_factors(assessment, settings))


def list_factors(
    assessment: Assessment, settings: RankingSettings
) -> tuple[tuple[str, float], ...]:
    """The factors that are not 1, by name."""
    score = settings.vote_score_weight * (assessment.score.total - 100.0) / 100.0
    logprob = settings.vote_logprob_weight * (assessment.candidate.logprob or 0.0)
    factors = (
        ("empty", settings.vote_empty_weight if says_nothing(assessment.result) else 1.0),
        ("score", _exp(score)),
        ("logprob", _exp(logprob)),
        ("repair", settings.vote_repair_weight if assessment.candidate.origin == "repair" else 1.0),
    )
    return tuple((name, factor) for name, factor in factors if factor != 1.0)


def says_nothing(result: ResultSet | None) -> bool:
    """True for no rows, and for a single row of only zeros and NULLs.

    A wrong condition finds nothing more often than a correct one does.
    """
    if result is None:
        return False
    return len(result.rows) <= 1 and not any(any(row) for row in result.rows)


def _exp(exponent: float) -> float:
    return math.exp(max(-_MOST_LOG, min(_MOST_LOG, exponent)))
