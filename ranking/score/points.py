"""The points of the score's terms, from a JSON file that ``python -m bench.fit_score`` writes.

25 points are a factor e in the weight of a sample. Every term has a ``prior``, set by hand before
anything was measured, and ``points``, which the fit moved away from it as far as its runs gave
reason to. Terms that no benchmark covers are ``fixed`` (``bench/fit_score.py``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from nl2sql.types import ScoreTerm

POINTS = files(__package__).joinpath("points.json")

Measure = tuple[str, float]
"""The name of a measure, and its strength between 0 and 1; one that does not apply is left out."""

# What multiplies the weight of a sample by e.
SCALE = 25.0
BASE = 100.0
# A rule that derives candidates and is not in the file has the points of ``derived`` alone.
_RULE_OF_DERIVED = "derived:"


@lru_cache(maxsize=1)
def load_points() -> Mapping[str, float]:
    """The packaged points of all terms by name."""
    terms: Mapping[str, Any] = json.loads(POINTS.read_text("utf-8"))["terms"]
    return {name: term["points"] for name, term in terms.items()}


def weigh_measures(measured: Iterable[Measure]) -> list[ScoreTerm]:
    """The terms of measures. Raises KeyError for one without points."""
    return [
        ScoreTerm(name, round(_find_points(name) * strength, 1), round(strength, 4))
        for name, strength in measured
    ]


def _find_points(name: str) -> float:
    points = load_points()
    return points.get(name, 0.0) if name.startswith(_RULE_OF_DERIVED) else points[name]


def weigh_score(total: float) -> float:
    """The factor by which a score multiplies the weight of a sample.

    >>> weigh_score(100.0), round(weigh_score(125.0), 3)
    (1.0, 2.718)
    """
    return math.exp((total - BASE) / SCALE)
