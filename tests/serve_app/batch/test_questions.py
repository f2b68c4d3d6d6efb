"""Questions out of files of each format, their ids, and what is wrong with an input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from nl2sql.errors import SettingsError
from serve_app.batch.questions import BatchQuestion, complete_ids, describe_files, read_files

ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "How many?", "database": "shop", "other": 2**62},
    {"id": "b", "question": 'Größe, "x"\nor 5?', "database": None, "other": None},
]
# Timestamps in microseconds, of which Python's end in the year 9999.
TYPES = (pa.string(), pa.string(), pa.string(), pa.timestamp("us"))
SCHEMA = pa.schema(zip(ROWS[0], TYPES, strict=True))
EXPECTED = [
    BatchQuestion("a", "How many?", "shop"),
    BatchQuestion("b", 'Größe, "x"\nor 5?'),
]


def read(path: Path) -> list[BatchQuestion]:
    return list(read_files(str(path)))


def write_lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8-sig")
    return path


def write_csv(path: Path) -> None:
    path.write_text(
        '\ufeffid,question,database,other\na,How many?,shop,3.0\nb,"Größe, ""x""\nor 5?",,\n',
        encoding="utf-8",
        newline="",
    )


@pytest.mark.parametrize(
    ("ending", "write"),
    [
        ("jsonl", lambda path: write_lines(path, *ROWS)),
        ("csv", write_csv),
        ("parquet", lambda path: parquet.write_table(pa.Table.from_pylist(ROWS, SCHEMA), path)),
    ],
)
def test_each_format_holds_the_same(
    tmp_path: Path, ending: str, write: Callable[[Path], object]
) -> None:
    write(tmp_path / f"in.{ending}")
    assert read(tmp_path / f"in.{ending}") == EXPECTED


def test_the_files_of_a_folder_are_read_in_their_order(tmp_path: Path) -> None:
    write_lines(tmp_path / "2.jsonl", ROWS[1])
    write_lines(tmp_path / "1.jsonl", ROWS[0])
    write_lines(tmp_path / "_log.jsonl", {"no": "question"})
    assert read(tmp_path) == EXPECTED
    assert [file[0] for file in describe_files(str(tmp_path))] == [
        str(tmp_path / name) for name in ("1.jsonl", "2.jsonl")
    ]


def test_derived_ids_do_not_depend_on_the_place() -> None:
    one, other = BatchQuestion("", "A?"), BatchQuestion("", "B?")
    ids = {question.question: question.id for question in complete_ids([one, other])}
    assert ids == {question.question: question.id for question in complete_ids([other, one])}
    first, second = complete_ids([one, one])
    assert first.id == ids["A?"]
    assert second.id == f"{first.id}-1"


def test_an_id_twice_is_refused() -> None:
    with pytest.raises(SettingsError, match="'x' occurs twice"):
        list(complete_ids([BatchQuestion("x", "A?"), BatchQuestion("x", "B?")]))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("in.jsonl", b'{"text": "Q?"}\n', "line 1, has no column 'question'"),
        ("in.jsonl", b'{"question": "Q?"}\nnot JSON\n', "line 2, is not JSON"),
        ("in.jsonl", b"[" * 100_000, "line 1, is not JSON"),
        ("in.jsonl", b"[1]\n", "line 1, is not a JSON object"),
        ("in.jsonl", b'{"question": "\xff"}\n', "cannot be read"),
        ("in.csv", b"text\nQ?\n", "row 1, has no column 'question'"),
        ("in.parquet", b"no Parquet", "is not Parquet"),
        ("in.txt", b"Q?", "does not tell its format"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        read(tmp_path / name)
    assert message in str(caught.value)


@pytest.mark.parametrize("location", ["nowhere.jsonl", "made-up://bucket/in.jsonl"])
def test_an_input_that_is_not_there(tmp_path: Path, location: str) -> None:
    with pytest.raises(SettingsError):
        read_files(location).__next__()
