"""Reading a benchmark file."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.benchmark import Example, load_examples
from nl2sql.errors import SettingsError

LINE = '{"id": 7, "database": "shop", "question": "How many?", "query": "SELECT 1"}'


def test_examples_are_read_in_order_and_blank_lines_skipped(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    hard = LINE.replace("7", '"h"').replace("}", ', "difficulty": "hard"}')
    path.write_text(f"{LINE}\n\n{hard}\n")
    assert load_examples(path) == (
        Example("7", "shop", "How many?", "SELECT 1"),
        Example("h", "shop", "How many?", "SELECT 1", "hard"),
    )


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "JSONDecodeError"),
        ('{"id": 1}', "database"),
        ("[1]", "TypeError"),
        ("3", "TypeError"),
    ],
    ids=["no_json", "missing_key", "list", "number"],
)
def test_an_error_names_file_and_line(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(f"{LINE}\n\n{line}\n")
    with pytest.raises(SettingsError, match=rf"questions\.jsonl:3: .*{complaint}"):
        load_examples(path)


def test_an_empty_file_has_no_examples(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("")
    assert load_examples(path) == ()
