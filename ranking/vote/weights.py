"""What one sample of a candidate weighs in the vote: a product of named factors.

Each factor has a setting of its own that switches it off. The log of the product is a sum, so that
only differences between candidates count: adding ten points to every score changes nothing.
"""

from __future__ import annotations

import math

from nl2sql.settings.ranking import RankingSettings
from nl2sql.types import Assessment, ResultSet

# No factor of a score or a log-probability goes beyond this, whatever the settings.
_MOST_LOG = 6.0


def weigh_sample(each: Assessment, settings: RankingSettings) -> float:
    """The product of all factors: 1 where every one is switched off."""
    return math.prod(factor for _, factor in list_factors(each, settings))


def list_factors(each: Assessment, settings: RankingSettings) -> tuple[tuple[str, float], ...]:
    """The factors that are not 1, by name."""
    score = settings.vote_score_weight * (each.score.total - 100.0) / 100.0
    logprob = settings.vote_logprob_weight * (each.candidate.logprob or 0.0)
    factors = (
        ("empty", settings.vote_empty_weight if says_nothing(each.result) else 1.0),
        ("score", _exp(score)),
        ("logprob", _exp(logprob)),
        ("repair", settings.vote_repair_weight if each.candidate.origin == "repair" else 1.0),
    )
    return tuple((name, factor) for name, factor in factors if factor != 1.0)


def says_nothing(result: ResultSet | None) -> bool:
    """True for no rows, and for one row that holds nothing but zeros and NULLs.

    A wrong condition finds nothing more often than a right one does.
    """
    if result is None:
        return False
    return len(result.rows) <= 1 and not any(any(row) for row in result.rows)


def _exp(exponent: float) -> float:
    return math.exp(max(-_MOST_LOG, min(_MOST_LOG, exponent)))
