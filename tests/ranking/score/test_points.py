"""The packaged points: every term has some, and the file says where they come from."""

from __future__ import annotations

import pytest

from ranking.lint import RULES
from ranking.score.points import load_points, weigh_measures


def test_a_term_is_the_strength_times_the_points() -> None:
    (term,) = weigh_measures([("no_rows", 0.5)])
    points = load_points()["no_rows"]
    assert points < 0
    assert (term.name, term.value, term.strength) == ("no_rows", round(points / 2, 1), 0.5)


def test_a_rule_that_no_fit_has_seen_has_the_points_of_any_derived_candidate() -> None:
    (term,) = weigh_measures([("derived:unseen", 1.0)])
    assert term.value == 0.0
    with pytest.raises(KeyError):
        weigh_measures([("unseen", 1.0)])


def test_every_lint_rule_has_points() -> None:
    names = set(load_points())
    assert {f"lint:{rule.__name__}" for rule in RULES} <= names
