"""The features from which a confidence is computed: named numbers about one ranking.

Every trace contains the same numbers, so that `quorumsql eval calibrate` fits on exactly what the
service uses. An unknown number (such as a missing log-probability) is left out.
"""

from __future__ import annotations

import math
import re

from nl2sql.types import Assessment, Question, Ranking, SchemaContext
from nl2sql.words import content_words, split_words
from ranking.vote.order import says_nothing

# The limit of ``lead``.
_MOST_LEAD = 6.0
_WORD = re.compile(r"\w+")

Features = tuple[tuple[str, float], ...]


def measure_features(question: Question, context: SchemaContext, ranking: Ranking) -> Features:
    """The features of a ranking; empty if no winner was voted for."""
    winner = ranking.winner
    if winner is None or winner.group < 0 or not ranking.samples:
        return ()
    numbers = {
        **_measure_vote(ranking, winner),
        **_measure_winner(winner),
        **_measure_question(question, context),
        "catalog": math.log2(1 + context.catalog_tables),
        "named": _measure_named(question, winner),
    }
    return tuple((name, round(value, 6)) for name, value in numbers.items() if value is not None)


def _measure_vote(ranking: Ranking, winner: Assessment) -> dict[str, float | None]:
    """Shares of all samples. ``margin`` is the lead of the winner's group over the second.

    ``weight`` is its share of the weight of all groups; ``lead`` the logarithm of its weight over
    that of the second and of one more sample of a plain score.
    """
    weights = {
        assessment.group: assessment.weight
        for assessment in ranking.assessments
        if assessment.group >= 0
    }
    votes = {
        assessment.group: assessment.votes
        for assessment in ranking.assessments
        if assessment.group >= 0
    }
    heavy = [weight for group, weight in weights.items() if group != winner.group]
    lead = math.log(max(winner.weight, 1e-6) / (max(heavy, default=0.0) + 1))
    others = [count for group, count in votes.items() if group != winner.group]
    scores = [
        assessment.score.total
        for assessment in ranking.assessments
        if assessment.group not in (-1, winner.group) and not assessment.failed
    ]
    return {
        "agreement": winner.votes / ranking.samples,
        "margin": (winner.votes - max(others, default=0)) / ranking.samples,
        "weight": winner.weight / max(sum(weights.values()), 1e-9),
        "lead": max(-_MOST_LEAD, min(_MOST_LEAD, lead)),
        "executes": sum(votes.values()) / ranking.samples,
        "groups": math.log2(len(votes)),
        "samples": math.log2(ranking.samples),
        "score_margin": (winner.score.total - max(scores)) / 100 if scores else 0.0,
    }


def _measure_winner(winner: Assessment) -> dict[str, float | None]:
    """``empty``, ``repaired`` and ``derived`` are 1 or 0; ``tables`` are its own."""
    tables = getattr(winner.verdict, "tables", ())
    return {
        "score": winner.score.total / 100,
        "logprob": winner.candidate.logprob,
        "empty": float(says_nothing(winner.result)),
        "repaired": float(winner.candidate.origin == "repair"),
        "derived": float(winner.candidate.origin == "derived"),
        "tables": float(len(tables)),
        "length": math.log2(1 + len(winner.candidate.sql.split())),
    }


def _measure_question(question: Question, context: SchemaContext) -> dict[str, float | None]:
    """``cosine`` of the best table, and its lead over the second."""
    cosines = sorted((hit.cosine for hit in context.tables if hit.cosine is not None), reverse=True)
    return {
        "cosine": cosines[0] if cosines else None,
        "cosine_gap": cosines[0] - cosines[1] if len(cosines) > 1 else None,
        "words": math.log2(1 + question.length),
    }


def _measure_named(question: Question, winner: Assessment) -> float | None:
    """The share of the question's content words that the query contains, as a name or a value."""
    asked = set(content_words(question.english))
    written = {word for run in _WORD.findall(winner.candidate.sql) for word in split_words(run)}
    return len(asked & written) / len(asked) if asked else None
