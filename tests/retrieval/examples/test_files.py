"""Files of examples: what is read, what is refused, and that an export reads back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from nl2sql.errors import SettingsError
from retrieval.examples.importing import Pair, read_pairs, write_examples
from retrieval.examples.records import build_example


def test_reads_lines_with_and_without_roles(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text(
        '{"question": "How\u2028many?", "sql": "SELECT 1"}\n\n'
        '{"question": "Who?", "sql": "SELECT 2", "roles": ["clerk"]}\n',
        encoding="utf-8",
    )
    assert read_pairs(path) == (
        Pair(question="How\u2028many?", sql="SELECT 1"),
        Pair(question="Who?", sql="SELECT 2", roles=("clerk",)),
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "line 1"),
        ("{", "is not JSON"),
        ('{"question": "q"}', "sql: Field required"),
        ('{"question": "", "sql": "s"}', "question: String should have at least 1"),
        ('{"question": "q", "sql": "s", "role": "x"}', "role: Extra inputs"),
        ('{"question": "q", "sql": "s", "roles": "x"}', "roles"),
        ('{"question": "q", "sql": "' + "x" * 5000 + '"}', "sql: String should have at most"),
        ('{"question": "q", "sql": "s", "source": "feedback"}', "an access is required"),
        ('{"question": "q", "sql": "s", "access": "abc"}', "an access is required"),
        ('{"question": "q\\u0000", "sql": "s"}', "null character"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"examples\.jsonl, line 1") as error:
        read_pairs(path)
    assert said in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        read_pairs(tmp_path / "none.jsonl")


def test_what_was_written_reads_back(tmp_path: Path) -> None:
    at = datetime(2025, 6, 30, tzinfo=UTC)
    given = build_example(
        "shop",
        "Größe 'x'?",
        "SELECT 1",
        ("sales.orders",),
        dialect="postgres",
        source="feedback",
        given_by="ann",
        access="key",
        created_at=at,
    )
    path = tmp_path / "new" / "kept.jsonl"
    write_examples(path, [given])
    assert read_pairs(path) == (
        Pair(
            question="Größe 'x'?",
            sql="SELECT 1",
            source="feedback",
            given_by="ann",
            access="key",
            created_at=at,
        ),
    )
