"""JSON lines about databases of the settings file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.benchmarks.jsonl import find_jsonl, load_jsonl
from data.benchmarks.types import Configured, Example
from nl2sql.errors import SettingsError

LINE: dict[str, object] = {
    "id": 7,
    "database": "shop",
    "question": "How many?",
    "query": "SELECT 1",
}


def lay_out(folder: Path, *lines: dict[str, object]) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n\n" for line in lines))
    return path


def test_lines_are_read_in_order(tmp_path: Path) -> None:
    hard = {
        **LINE,
        "id": "h",
        "query": ["SELECT 1;", "SELECT 2"],
        "difficulty": "hard",
        "evidence": "a hint",
        "modules": ["x"],
    }
    path = lay_out(tmp_path, LINE, hard)
    benchmark = load_jsonl(path, {"shop"})
    assert benchmark.name == "mine"
    assert benchmark.examples == (
        Example("7", "shop", "How many?", ("SELECT 1",)),
        Example("h", "shop", "How many?", ("SELECT 1", "SELECT 2"), "a hint", "hard"),
    )
    assert benchmark.databases == {"shop": Configured()}
    assert find_jsonl(tmp_path) == find_jsonl(path) == path


def test_a_query_may_stand_for_several(tmp_path: Path) -> None:
    query = ["SELECT a FROM t", "SELECT {a, b} FROM t; SELECT '{c}' FROM t"]
    benchmark = load_jsonl(
        lay_out(tmp_path, {**LINE, "query": query, "notation": "sql-eval"}), {"shop"}
    )
    assert benchmark.examples[0].golds == (
        "SELECT a FROM t",
        "SELECT a, b FROM t",
        "SELECT b FROM t",
        "SELECT '{c}' FROM t",
    )
    # Without the notation, braces are the database's own: DuckDB writes structs with them.
    plain = load_jsonl(lay_out(tmp_path, {**LINE, "query": "SELECT {'a': 1}"}), {"shop"})
    assert plain.examples[0].golds == ("SELECT {'a': 1}",)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("query", {"query": "SELECT {a FROM t", "notation": "sql-eval"}),
        ("notation", {"notation": "own"}),
    ],
)
def test_a_wrong_notation_is_named(tmp_path: Path, field: str, change: dict[str, str]) -> None:
    path = lay_out(tmp_path, LINE, {**LINE, "id": 8, **change})
    with pytest.raises(SettingsError, match=rf"mine\.jsonl, line 3: '{field}'"):
        load_jsonl(path, {"shop"})


def test_an_unanswerable_question_is_left_out(tmp_path: Path) -> None:
    line = {"id": 9, "database": "shop", "question": "Who is sad?", "unanswerable": "no moods"}
    benchmark = load_jsonl(lay_out(tmp_path, LINE, line), {"shop"})
    assert [example.id for example in benchmark.examples] == ["7"]


def test_a_database_that_is_not_configured_is_missing(tmp_path: Path) -> None:
    benchmark = load_jsonl(lay_out(tmp_path, LINE), {"other"})
    assert benchmark.databases == {}
    assert benchmark.missing == {"shop": "The settings file has no database 'shop'; it has other."}
    assert len(benchmark.examples) == 1


@pytest.mark.parametrize("query", [[], [3], [";"], "", None, {}])
def test_a_wrong_query_is_named(tmp_path: Path, query: object) -> None:
    path = lay_out(tmp_path, LINE, {**LINE, "id": 8, "query": query})
    with pytest.raises(SettingsError, match=r"mine\.jsonl, line 3: 'query'"):
        load_jsonl(path, {"shop"})


def test_of_several_files_one_must_be_named(tmp_path: Path) -> None:
    path = lay_out(tmp_path, LINE)
    path.with_name("second.jsonl").write_text(path.read_text())
    with pytest.raises(SettingsError, match="second"):
        find_jsonl(tmp_path)
