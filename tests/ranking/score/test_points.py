"""The packaged points: every term has some, and the file says where they come from."""

from __future__ import annotations

import pytest

from ranking.lint import RULES
from ranking.score.points import load_points, parse_points

TEXT = """{"provenance": {}, "terms": {
    "no_rows": {"points": -20.0, "prior": -25.0, "questions": 7},
    "derived": {"points": -5.0, "prior": -25.0},
    "derived:fewer_joins": {"points": 3.0, "prior": 0.0}
}}"""


def test_a_term_is_the_strength_times_the_points() -> None:
    (term,) = parse_points(TEXT).weigh([("no_rows", 0.5)])
    assert (term.name, term.value, term.strength) == ("no_rows", -10.0, 0.5)


def test_a_rule_that_no_fit_has_seen_has_the_points_of_any_derived_candidate() -> None:
    points = parse_points(TEXT)
    assert points.find("derived:fewer_joins") == 3.0
    assert points.find("derived:unseen") == 0.0
    with pytest.raises(KeyError):
        points.find("unseen")


def test_every_lint_rule_has_points() -> None:
    names = set(load_points().terms)
    assert {f"lint:{rule.__name__}" for rule in RULES} <= names
