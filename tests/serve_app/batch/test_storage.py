"""Folders and files on this machine, and a whole job there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nl2sql.errors import SettingsError
from serve_app.batch.figures import ProgressReader
from serve_app.batch.job import find_job
from serve_app.batch.questions import describe_files, read_files
from serve_app.batch.storage import find_files, open_folder
from tests.serve_app.batch.jobs import build_job, build_questions, read_rows
from tests.serve_app.batch.test_job import write_results


def test_files_of_a_folder(tmp_path: Path) -> None:
    location = str(tmp_path / "folder")
    folder = open_folder(location)
    folder.create()
    assert folder.read("a.json") is None
    assert folder.list_files() == []
    folder.write("a.json", b"1")
    folder.write("a.json", b"22")
    (folder / "inner").create()
    (folder / "inner").write("_b.json", b"3")
    assert folder.read("a.json") == b"22"
    assert [Path(info.path).name for info in folder.list_files()] == ["a.json"]
    assert [info.path for info in find_files(location)[1]] == [f"{folder.path}/a.json"]
    assert [info.path for info in find_files(f"{location}/a.json")[1]] == [f"{folder.path}/a.json"]
    with pytest.raises(SettingsError, match="no files"):
        find_files(f"{location}/inner")
    before = describe_files(location)
    assert before == describe_files(location)
    folder.write("a.json", b"333")
    assert before != describe_files(location)


def test_a_job_in_a_folder(tmp_path: Path) -> None:
    location = str(tmp_path / "folder")
    open_folder(location).create()
    lines = [{"id": question.id, "question": question.question} for question in build_questions(4)]
    content = "".join(f"{json.dumps(line)}\n" for line in lines)
    open_folder(location).write("questions.jsonl", content.encode())
    questions = list(read_files(f"{location}/questions.jsonl"))
    job = build_job(f"{location}/answers", *questions, block_rows=2)
    for number in range(2):
        write_results(job, number)
    found = find_job(job.output)
    assert found is not None
    assert found.stored == job.stored
    assert ProgressReader(found).read().is_complete
    assert [row["id"] for row in read_rows(found, "id")] == [one.id for one in questions]
    # As if it had been killed before the last file.
    job.output.filesystem.delete_file(job.list_results()[-1].path)
    assert len(found.list_open_blocks()) == 1
