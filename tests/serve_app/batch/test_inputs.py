"""Questions out of files of each format, their ids, and what is wrong with an input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from nl2sql.errors import InvalidRequest, SettingsError
from serve_app.batch.inputs import InputFormat, describe_files, read_files
from serve_app.batch.questions import BatchQuestion, Columns, build_request, complete_ids
from tests.fakes import build_settings

ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "How many?", "database": "shop", "k": 3},
    {"id": "b", "question": 'Größe, "x"\nor 5?', "database": None, "k": None},
]
EXPECTED = [
    BatchQuestion("a", "How many?", "shop", k=3),
    BatchQuestion("b", 'Größe, "x"\nor 5?'),
]


def read(path: Path, format_: str = "auto", **columns: str) -> list[BatchQuestion]:
    return list(read_files(str(path), InputFormat(format_), Columns(**columns)))


def write_lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def write_chat(path: Path, custom_id: str = "r1", **body: Any) -> Path:
    line = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return write_lines(path, line)


def test_json_lines(tmp_path: Path) -> None:
    assert read(write_lines(tmp_path / "in.jsonl", *ROWS)) == EXPECTED


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        '\ufeffid,question,database,k\na,How many?,shop,3.0\nb,"Größe, ""x""\nor 5?",,\n',
        encoding="utf-8",
        newline="",
    )
    assert read(path) == EXPECTED


def test_parquet(tmp_path: Path) -> None:
    parquet.write_table(pa.Table.from_pylist(ROWS), tmp_path / "in.parquet")
    assert read(tmp_path / "in.parquet") == EXPECTED


def test_the_files_of_a_folder_are_read_in_their_order(tmp_path: Path) -> None:
    write_lines(tmp_path / "2.jsonl", ROWS[1])
    write_lines(tmp_path / "1.jsonl", ROWS[0])
    write_lines(tmp_path / "_log.jsonl", {"no": "question"})
    assert read(tmp_path) == EXPECTED
    assert [file[0] for file in describe_files(str(tmp_path))] == [
        str(tmp_path / name) for name in ("1.jsonl", "2.jsonl")
    ]


def test_columns_are_named_by_options(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "train.txt",
        {"question_id": 7, "utterance": "Q?", "db_id": "pets", "query": "SELECT 1", "who": "mia"},
    )
    (found,) = read(
        path,
        "jsonl",
        id="question_id",
        question="utterance",
        database="db_id",
        gold="query",
        principal="who",
    )
    assert found == BatchQuestion("7", "Q?", "pets", principal="mia", gold="SELECT 1")


def test_lines_of_openai_are_questions_with_their_chat(tmp_path: Path) -> None:
    settings = build_settings()
    messages = [
        {"role": "user", "content": "How many orders?"},
        {"role": "assistant", "content": "```sql\nSELECT count(*) FROM orders\n```"},
        {"role": "user", "content": "And this year?"},
    ]
    path = write_chat(tmp_path / "in.jsonl", model="shop", messages=messages, seed=5)
    (found,) = read(path)
    assert (found.id, found.question, found.database) == ("r1", "And this year?", "shop")
    request, turns = build_request(found, settings, k=2, seed=None, max_rows=9)
    assert (request.question, request.database, request.seed) == ("And this year?", "shop", 5)
    assert [turn.question for turn in turns] == ["How many orders?"]


@pytest.mark.parametrize(
    "body", [{}, {"model": "shop", "messages": []}, {"model": "shop", "messages": 3, "n": 2}]
)
def test_a_wrong_body_is_an_error_of_its_question_only(tmp_path: Path, body: Any) -> None:
    (found,) = read(write_chat(tmp_path / "in.jsonl", **body))
    with pytest.raises(InvalidRequest):
        build_request(found, build_settings(), k=None, seed=None, max_rows=9)


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
        ("in.jsonl", b"[1]\n", "line 1, is not a JSON object"),
        ("in.jsonl", b'{"question": "\xff"}\n', "cannot be read"),
        ("in.jsonl", b'{"question": "Q?", "k": 2.5}\n', "k is '2.5'"),
        ("in.jsonl", b'{"custom_id": "1", "body": 5}\n', "is not a request of OpenAI's"),
        (
            "in.jsonl",
            b'{"custom_id": "1", "url": "/v1/embeddings", "body": {}}\n',
            "asks /v1/embeddings",
        ),
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


def test_an_option_for_a_column_that_is_not_there(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "in.jsonl", {"question": "Q?"})
    with pytest.raises(SettingsError, match="no column 'db'"):
        read(path, database="db")


@pytest.mark.parametrize("location", ["nowhere.jsonl", "made-up://bucket/in.jsonl"])
def test_an_input_that_is_not_there(tmp_path: Path, location: str) -> None:
    with pytest.raises(SettingsError):
        read_files(location, InputFormat.AUTO, Columns()).__next__()
