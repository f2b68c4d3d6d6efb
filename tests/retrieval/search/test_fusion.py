"""Reciprocal rank fusion, computed by hand."""

from __future__ import annotations

import pytest

from retrieval.search.keywords import fuse_rankings


def test_scores_are_the_sums_of_reciprocal_ranks() -> None:
    fused = fuse_rankings([(1.0, ["a", "b", "c"]), (1.0, ["c", "a"])])
    assert fused == {
        "a": pytest.approx(1 / 61 + 1 / 62),
        "c": pytest.approx(1 / 63 + 1 / 61),
        "b": pytest.approx(1 / 62),
    }
    assert list(fused) == ["a", "c", "b"]


def test_a_ranking_counts_by_its_weight() -> None:
    fused = fuse_rankings([(0.5, ["a"]), (1.0, ["b"])])
    assert fused == {"b": pytest.approx(1 / 61), "a": pytest.approx(0.5 / 61)}
    assert list(fused) == ["b", "a"]


def test_another_k_is_used() -> None:
    assert fuse_rankings([(1.0, ["a", "b"])], k=1) == {"a": 1 / 2, "b": 1 / 3}


def test_ties_stay_in_the_order_of_the_rankings() -> None:
    assert list(fuse_rankings([(1.0, ["b"]), (1.0, ["a"])])) == ["b", "a"]


@pytest.mark.parametrize("rankings", [[], [(1.0, [])]])
def test_nothing_fuses_to_nothing(rankings: list[tuple[float, list[str]]]) -> None:
    assert fuse_rankings(rankings) == {}
