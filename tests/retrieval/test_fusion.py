"""Reciprocal rank fusion, computed by hand."""

from __future__ import annotations

import pytest

from retrieval.fusion import fuse_rankings


def test_scores_are_the_sums_of_reciprocal_ranks() -> None:
    fused = fuse_rankings([["a", "b", "c"], ["c", "a"]])
    assert fused == {
        "a": pytest.approx(1 / 61 + 1 / 62),
        "c": pytest.approx(1 / 63 + 1 / 61),
        "b": pytest.approx(1 / 62),
    }
    assert list(fused) == ["a", "c", "b"]


def test_another_k_is_used() -> None:
    assert fuse_rankings([["a", "b"]], k=1) == {"a": 1 / 2, "b": 1 / 3}


def test_ties_are_broken_by_name() -> None:
    assert list(fuse_rankings([["b"], ["a"]])) == ["a", "b"]


@pytest.mark.parametrize("rankings", [[], [[]], [[], []]])
def test_nothing_fuses_to_nothing(rankings: list[list[str]]) -> None:
    assert fuse_rankings(rankings) == {}
