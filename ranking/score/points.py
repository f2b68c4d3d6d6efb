"""The points of the score's terms, from a JSON file that ``python -m bench.fit_score`` writes.

25 points are a factor e in the weight of a sample. Every term has a ``prior``, set by hand before
anything was measured, and ``points``, which the fit moved away from it as far as its runs gave
reason to. Terms that no benchmark covers are ``fixed`` (``bench/fit_score.py``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from nl2sql.types import ScoreTerm

Measure = tuple[str, float]
"""The name of a measure, and its strength between 0 and 1; one that does not apply is left out."""

# What multiplies the weight of a sample by e.
SCALE = 25.0
BASE = 100.0
# A rule that derives candidates and is not in the file has the points of ``derived`` alone.
_RULE_OF_DERIVED = "derived:"


@dataclass(frozen=True, slots=True)
class TermPoints:
    """The points of one term. ``questions`` is in how many it told right from wrong groups."""

    points: float
    prior: float
    fixed: bool = False
    questions: int = 0


@dataclass(frozen=True, slots=True)
class Points:
    """The points of all terms by name."""

    terms: Mapping[str, TermPoints]

    def find(self, name: str) -> float:
        """The points of a term. Raises KeyError for an unknown one."""
        if name.startswith(_RULE_OF_DERIVED) and name not in self.terms:
            return 0.0
        return self.terms[name].points

    def weigh(self, measured: Iterable[tuple[str, float]]) -> list[ScoreTerm]:
        """The terms of measures, given as names with strengths."""
        return [
            ScoreTerm(name, round(self.find(name) * strength, 1), round(strength, 4))
            for name, strength in measured
        ]


def weigh_score(total: float) -> float:
    """The factor by which a score multiplies the weight of a sample.

    >>> weigh_score(100.0), round(weigh_score(125.0), 3)
    (1.0, 2.718)
    """
    return math.exp((total - BASE) / SCALE)


@lru_cache(maxsize=1)
def load_points() -> Points:
    """The packaged points."""
    return parse_points(files(__package__).joinpath("points.json").read_text("utf-8"))


def parse_points(text: str) -> Points:
    """The points in a JSON text. Raises ValueError, KeyError, TypeError."""
    value: Mapping[str, Any] = json.loads(text)
    return Points({name: TermPoints(**fields) for name, fields in value["terms"].items()})
