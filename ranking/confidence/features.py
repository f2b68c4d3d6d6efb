"""The features from which a confidence is computed: named numbers about one ranking.

Every trace contains the same numbers, so that `quorumsql eval calibrate` fits on exactly what the
service uses. They do not depend on the model, the engine or the size of the schema:
docs/lab/answers.md says which others were tried.
"""

from __future__ import annotations

import math

from nl2sql.types import Ranking
from ranking.vote.order import says_nothing

# The limit of ``lead``.
_MOST_LEAD = 6.0

Features = tuple[tuple[str, float], ...]


def measure_features(ranking: Ranking, *, is_unstored: bool = False) -> Features:
    """The features of a ranking; empty if no winner was voted for.

    ``agreement`` is the winner's share of all samples, or that of the samples that agree where a
    derived candidate repairs their failure; ``executes`` that of the samples with a result;
    ``weight`` its share of the weight of all groups; ``lead`` the logarithm of its weight over that
    of the second and of one more sample of a plain score; ``empty``, ``unstored`` and ``derived``
    are 1 or 0; ``samples`` is the binary logarithm of their number. ``is_unstored``: a column has
    values, and none of the texts that the winner, which finds nothing, compares with it, one day,
    or no number so large. A result of NULLs counts so, too.
    """
    winner = ranking.winner
    if winner is None or winner.group < 0 or not ranking.samples:
        return ()
    groups = {
        assessment.group: assessment for assessment in ranking.assessments if assessment.group >= 0
    }
    others = [group.weight for number, group in groups.items() if number != winner.group]
    is_null = "nulls_only" in {term.name for term in winner.score.terms}
    lead = math.log(max(winner.weight, 1e-6) / (max(others, default=0.0) + 1))
    votes = [group.votes for group in groups.values() if group.votes and group.result is not None]
    agreeing = winner.votes or (votes[0] if len(votes) == 1 else 0)
    numbers = {
        "agreement": agreeing / ranking.samples,
        "executes": sum(votes) / ranking.samples,
        "weight": winner.weight / max(winner.weight + sum(others), 1e-9),
        "lead": max(-_MOST_LEAD, min(_MOST_LEAD, lead)),
        "empty": float(says_nothing(winner.result)),
        "unstored": float(is_unstored or is_null),
        "derived": float(winner.candidate.origin == "derived"),
        "samples": math.log2(ranking.samples),
    }
    return tuple((name, round(value, 6)) for name, value in numbers.items())
