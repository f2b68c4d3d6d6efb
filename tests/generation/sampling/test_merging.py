"""Completions become candidates."""

from __future__ import annotations

import pytest

from generation.sampling.generator import merge_candidates
from nl2sql.types import Candidate, Completions


def merge(*texts: str, logprobs: tuple[float, ...] = ()) -> tuple[Candidate, ...]:
    return merge_candidates([("v", Completions(texts, 9, 9, logprobs))], "postgres")


def test_equal_queries_are_one_candidate_in_the_order_of_their_first_sample() -> None:
    b, a = "SELECT b FROM t", "SELECT a FROM t"
    assert merge(b, a, "select A\nfrom T;", "no idea", b) == (
        Candidate("c1", "SELECT b FROM t", samples=2, variant="v"),
        Candidate("c2", "SELECT a FROM t", samples=2, variant="v"),
    )


def test_a_candidate_is_as_likely_as_its_likeliest_sample() -> None:
    merged = merge("SELECT a", "SELECT b", "select A", logprobs=(-0.5, -0.1, -0.2))
    assert [(candidate.samples, candidate.logprob) for candidate in merged] == [
        (2, -0.2),
        (1, -0.1),
    ]


def test_equal_queries_of_two_variants_are_one_candidate_of_the_first() -> None:
    drawn = [
        ("standard", Completions(("SELECT a FROM t",), 9, 9)),
        ("narrow", Completions(("SELECT b FROM t", "SELECT t.a FROM t"), 9, 9)),
    ]
    merged = merge_candidates(drawn, "postgres")
    assert [(candidate.id, candidate.samples, candidate.variant) for candidate in merged] == [
        ("c1", 2, "standard"),
        ("c2", 1, "narrow"),
    ]


@pytest.mark.parametrize("texts", [(), ("", "I do not know")], ids=["nothing", "no_sql"])
def test_no_query_is_no_candidate(texts: tuple[str, ...]) -> None:
    assert merge(*texts) == ()
