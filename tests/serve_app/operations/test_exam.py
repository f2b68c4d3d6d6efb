"""Answers that reviewers called right become questions of the team's own file."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from data.benchmarks.load import load_benchmark
from retrieval.index_store.example_store import VerifiedExample
from serve_app.operations.exam import add_to_exam

GIVEN = VerifiedExample(
    id="0123456789abcdef",
    database="shop",
    question="How many orders?",
    masked="",
    sql="SELECT count(*) FROM orders",
    form="",
    tables=(),
    source="feedback",
    given_by="ada",
    access="",
    roles=(),
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    reviewed=True,
)


def test_only_what_a_reviewer_gave_becomes_a_question(tmp_path: Path) -> None:
    path = tmp_path / "exam.jsonl"
    others = (
        replace(GIVEN, id="b" * 16, question="Said by mia?", reviewed=False),
        replace(GIVEN, id="c" * 16, question="Imported?", source="file", reviewed=False),
    )
    earlier = replace(GIVEN, id="d" * 16, question="how many  orders", sql="SELECT 1;")
    assert add_to_exam(path, (earlier, GIVEN, *others)) == (GIVEN.question,)
    (example,) = load_benchmark(str(path), configured=["shop"]).examples
    assert example.golds == (GIVEN.sql,)
    assert "mia" not in path.read_text()


def test_a_question_that_was_edited_in_the_file_is_not_added_again(tmp_path: Path) -> None:
    path = tmp_path / "exam.jsonl"
    misspelt = replace(GIVEN, question="How many ordrs?")
    add_to_exam(path, (misspelt,))
    path.write_text(path.read_text().replace("ordrs", "orders"))
    # The misspelt question was answered by another query since.
    right, later = replace(GIVEN, id="f" * 16), replace(misspelt, id="a" * 16, sql="SELECT 1")
    for given in ((later,), (misspelt,), (misspelt, right), (misspelt, later), (later, misspelt)):
        assert add_to_exam(path, given) == ()
    assert len(load_benchmark(str(path), configured=["shop"]).examples) == 1


def test_what_the_file_has_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "exam.jsonl"
    text = '{"id": "1", "database": "shop", "question": "How many orders", "query": ["SELECT 7"]}'
    path.write_text(text)
    new = replace(GIVEN, id="e" * 16, question="Wie viele Aufträge?")
    assert add_to_exam(path, (GIVEN, new)) == (new.question,)
    assert add_to_exam(path, (GIVEN, new)) == ()
    assert path.read_text().startswith(f"{text}\n")
    assert "Wie viele Aufträge?" in path.read_text()
    assert len(load_benchmark(str(path), configured=["shop"]).examples) == 2
