"""What a round of sampling adds to what is known."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.pipeline.rounds import merge_round
from nl2sql.types import Assessment, Candidate
from tests.fakes import build_assessment, build_diagnostic


def build(name: str, sql: str, samples: int, repairs: str = "", failed: bool = False) -> Assessment:
    assessment = build_assessment(name, sql=sql, diagnostic=build_diagnostic() if failed else None)
    candidate = replace(assessment.candidate, samples=samples, repairs=repairs)
    return replace(assessment, candidate=candidate)


def count(assessments: tuple[Assessment, ...]) -> dict[str, int]:
    return {assessment.candidate.id: assessment.candidate.samples for assessment in assessments}


def test_a_query_that_is_known_adds_its_samples() -> None:
    known, new = merge_round(
        (build("c1", "SELECT a FROM t", 2),),
        (Candidate("c1", "SELECT b FROM t"), Candidate("c2", "SELECT x.a FROM t AS x", samples=3)),
        "postgres",
    )
    assert count(known) == {"c1": 5}
    assert [(added.id, added.sql, added.samples) for added in new] == [("c2", "SELECT b FROM t", 1)]


def test_new_ones_are_numbered_on_past_the_repairs() -> None:
    known = (
        build("c2", "SELECT b", 1),
        build("c1", "SELECT a", 0),
        build("c1r", "SELECT x", 1, "c1"),
    )
    _, new = merge_round(
        known, (Candidate("c1", "SELECT c"), Candidate("c2", "SELECT d")), "postgres"
    )
    assert [added.id for added in new] == ["c3", "c4"]


def test_the_likeliest_sample_of_all_rounds_is_told() -> None:
    first = build("c1", "SELECT a", 1)
    first = replace(first, candidate=replace(first.candidate, logprob=-0.5))
    for told, expected in ((-0.2, -0.2), (-0.9, -0.5), (None, -0.5)):
        ((merged,), _) = merge_round(
            (first,), (Candidate("c1", "SELECT a", logprob=told),), "postgres"
        )
        assert merged.candidate.logprob == expected


def test_samples_of_a_repaired_query_go_to_its_repair() -> None:
    known = (
        build("c1", "SELECT a", 0, failed=True),
        build("c1r", "SELECT aa", 0, "c1", failed=True),
        build("c1rr", "SELECT aaa", 2, "c1r"),
    )
    merged, new = merge_round(known, (Candidate("c1", "SELECT a", samples=2),), "postgres")
    assert count(merged) == {"c1": 0, "c1r": 0, "c1rr": 4}
    assert new == ()


def test_a_repair_that_took_nothing_gets_nothing() -> None:
    known = (build("c1", "SELECT a", 2, failed=True), build("c1r", "SELECT aa", 0, "c1", True))
    merged, _ = merge_round(known, (Candidate("c1", "SELECT a"),), "postgres")
    assert count(merged) == {"c1": 3, "c1r": 0}
