"""The weight of each result in the vote: the samples that speak for it, weighed by their scores.

A sample votes once for a result. A derived candidate has no samples of its own: it votes with those
of the candidate that it was derived from, which keep their vote for their own result. Its score
says how much that is worth, with points for having been derived by its rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nl2sql.types import Assessment, Candidate, ResultSet
from ranking.score.points import weigh_score


def weigh_sample(assessment: Assessment) -> float:
    """The weight of one sample of a candidate."""
    return weigh_score(assessment.score.total)


def weigh_groups(assessments: Sequence[Assessment]) -> dict[int, float]:
    """The weight of each group.

    Of the candidates of a group that vote with the same samples, the one with most weight counts.
    """
    known = {assessment.candidate.id: assessment.candidate for assessment in assessments}
    best: dict[tuple[int, str], float] = {}
    for assessment in assessments:
        source, samples = find_source(assessment.candidate, known)
        key = assessment.group, source
        best[key] = max(best.get(key, 0.0), samples * weigh_sample(assessment))
    weights: dict[int, float] = {}
    for (group, _), weight in best.items():
        weights[group] = weights.get(group, 0.0) + weight
    return weights


def find_source(candidate: Candidate, known: Mapping[str, Candidate]) -> tuple[str, int]:
    """The id of the candidate with whose samples this one votes, and their number.

    A derived candidate goes back to the first that was not derived; one whose samples a repair took
    over, or that is not among the ``known``, counts as one sample.
    """
    if candidate.origin != "derived":
        return candidate.id, candidate.samples
    parent = known.get(candidate.derived_from)
    if parent is None:
        return candidate.derived_from, 1
    source, samples = find_source(parent, known)
    return source, max(1, samples)


def says_nothing(result: ResultSet | None) -> bool:
    """True for no rows, and for a single row of only zeros and NULLs.

    A wrong condition finds nothing more often than a correct one does.
    """
    if result is None:
        return False
    return len(result.rows) <= 1 and not any(any(row) for row in result.rows)
