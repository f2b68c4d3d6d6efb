"""Measures how a candidate came about: by a repair, or by a rule from another candidate.

Each measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from nl2sql.types import Candidate
from ranking.score.question_terms import Measure


def measure_origin(candidate: Candidate) -> Iterator[Measure]:
    """Yields ``repaired``; ``derived``, and with it the rule.

    >>> list(measure_origin(Candidate("c1r", "SELECT 1", origin="repair", repairs="c1")))
    [('repaired', 1.0)]
    >>> derived = Candidate("d1", "SELECT 1", 0, "derived", derived_from="c1", rule="fewer_joins")
    >>> list(measure_origin(derived))
    [('derived', 1.0), ('derived:fewer_joins', 1.0)]
    """
    if candidate.origin == "repair":
        yield "repaired", 1.0
    if candidate.origin == "derived":
        yield "derived", 1.0
        yield f"derived:{candidate.rule}", 1.0
