"""Reading questions files: the containers, and errors that say where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.benchmarks.entries import (
    Entry,
    build_benchmark,
    peek_fields,
    read_csv_entries,
    read_json_entries,
    read_json_line_entries,
)
from data.benchmarks.types import Example
from nl2sql.errors import SettingsError


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_three_containers_hold_the_same(tmp_path: Path) -> None:
    value = {"question": "Who, and \u2028 when?", "n": "1"}
    text = json.dumps(value, ensure_ascii=False)
    for entries in (
        read_json_entries(write(tmp_path / "q.json", f"\ufeff[{text}]")),
        read_json_line_entries(write(tmp_path / "q.jsonl", f"{text}\n\n")),
        read_csv_entries(write(tmp_path / "q.csv", f'question,n\n"{value["question"]}",1\n')),
    ):
        (entry,) = entries
        assert entry.values == value
    for path in tmp_path.iterdir():
        assert peek_fields(path) == {"question", "n"}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("q.json", "[", r"q\.json: is not JSON"),
        ("q.json", "{}", r"q\.json contains a dict\. It must be a list"),
        ("q.json", "[{}, 3]", r"q\.json, entry 2: is a int, not an object"),
        ("q.jsonl", '{}\n\n{"a"', r"q\.jsonl, line 3: is not JSON"),
        ("q.jsonl", "[]", r"q\.jsonl, line 1: is a list"),
        ("q.csv", "a,b\n1,2\n1,2,3\n", r"q\.csv, row 2: has more fields"),
        ("absent.json", None, r"absent\.json cannot be read"),
    ],
)
def test_an_error_names_the_file_and_the_place(
    tmp_path: Path, name: str, text: str | None, complaint: str
) -> None:
    path = tmp_path / name
    if text is not None:
        write(path, text)
    read = {
        ".json": read_json_entries,
        ".jsonl": read_json_line_entries,
        ".csv": read_csv_entries,
    }[path.suffix]
    with pytest.raises(SettingsError, match=complaint):
        read(path)


@pytest.mark.parametrize("value", [None, "", "  ", [], True, {"a": 1}])
def test_a_field_that_is_no_text_is_named(value: object) -> None:
    entry = Entry(Path("q.json"), 4, {"question": value})
    with pytest.raises(SettingsError, match=r"q\.json, entry 4: 'question' "):
        entry.text("question")


def test_numbers_are_text_and_queries_lose_their_semicolon() -> None:
    entry = Entry(Path("q.json"), 1, {"id": 0, "query": " SELECT 1 ; ; ", "none": ";"})
    assert entry.text("id") == "0"
    assert entry.query("query") == "SELECT 1"
    assert entry.optional_text("absent") == ""
    with pytest.raises(SettingsError, match="'none' contains no query"):
        entry.query("none")


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "a\\b"])
def test_a_name_does_not_lead_out_of_its_folder(name: str) -> None:
    with pytest.raises(SettingsError, match="not a plain name"):
        Entry(Path("q.json"), 1, {"db_id": name}).file_name("db_id")


@pytest.mark.parametrize(("ids", "complaint"), [([], "no questions"), (["a", "a"], "'a' occurs")])
def test_every_benchmark_has_questions_with_ids_of_their_own(
    tmp_path: Path, ids: list[str], complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint):
        build_benchmark(
            write(tmp_path / "q.json", "[]"),
            name="x",
            dialect="postgres",
            examples=[Example(id_, "d", "q", ("SELECT 1",)) for id_ in ids],
            databases={},
            missing={},
            descriptions={},
        )
