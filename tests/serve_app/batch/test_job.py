"""The folder of a job: which blocks are answered, and that no other job uses it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from nl2sql.errors import SettingsError
from serve_app.batch.figures import ProgressReader
from serve_app.batch.job import (
    Job,
    JobSpec,
    check_same,
    create_job,
    find_job,
)
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.storage import open_folder
from tests.serve_app.batch.jobs import build_job, build_questions, read_rows


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return build_job(tmp_path / "out", *build_questions(6), block_rows=2)


def write_results(job: Job, block: int, **row: object) -> None:
    questions = job.read_questions(block)
    job.write_results(block, [{"id": one.id, "outcome": "answered", **row} for one in questions])


def test_a_job_is_found_again_with_its_blocks(job: Job) -> None:
    assert find_job(job.output) == job
    assert (job.stored.total, job.list_open_blocks()) == (6, [0, 1, 2])
    assert [one for block in range(3) for one in job.read_questions(block)] == build_questions(6)


def test_a_block_is_answered_if_its_file_is_there(job: Job) -> None:
    for name in ("mine.parquet", "000002.parquet.1a.part"):
        (Path(job.output.path) / name).write_bytes(b"no results")
    write_results(job, 1)
    assert job.list_open_blocks() == [0, 2]
    write_results(job, 1)
    assert [row["id"] for row in read_rows(job, "id")] == ["q00002", "q00003"]


def test_questions_of_a_database_are_asked_together(tmp_path: Path) -> None:
    questions = [BatchQuestion(name, "Q?", database=name[0]) for name in ("b1", "a1", "b2", "a2")]
    job = build_job(tmp_path, *questions, block_rows=3)
    assert [one.id for one in job.read_questions(0)] == ["a1", "a2", "b1"]


def test_few_questions_are_python_objects_at_a_time(tmp_path: Path) -> None:
    held = []

    def generate() -> Iterator[BatchQuestion]:
        for number in range(30_000):
            if number % 14_000 == 13_999:
                held.append(sum(type(one) is BatchQuestion for one in gc.get_objects()))
            yield BatchQuestion("", f"Question {number}?")

    spec = JobSpec(input="a test", principal="local")
    job = create_job(open_folder(str(tmp_path)), spec, generate(), lambda total: total)
    assert job.stored.total == 30_000
    assert max(held) < 21_000  # two parts: one is being read, one is just stored


def test_another_job_needs_another_folder(job: Job) -> None:
    check_same(job, job.spec)
    with pytest.raises(SettingsError, match=r"another input, k\."):
        check_same(job, job.spec.model_copy(update={"input": "other", "k": 3}))


def test_a_folder_with_files_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious.parquet").write_bytes(b"")
    with pytest.raises(SettingsError, match="holds files, but no job"):
        build_job(tmp_path, *build_questions(1))


def test_a_job_of_another_version_is_refused(job: Job) -> None:
    (job.output / "_batch").write("job.json", b'{"spec": {}, "later": 1}')
    with pytest.raises(SettingsError, match="of another version"):
        find_job(job.output)


@pytest.mark.parametrize("name", ["000001.parquet", "_batch/questions.parquet"])
def test_a_damaged_file_is_told_with_what_to_do(job: Job, name: str) -> None:
    (Path(job.output.path) / name).write_bytes(b"PAR1")
    read = ProgressReader if "/" not in name else lambda job: job.read_questions(0)
    with pytest.raises(SettingsError, match=f"{name} cannot be used") as raised:
        read(job)
    assert "If it is damaged" in raised.value.hint


def test_a_job_without_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="holds no questions"):
        build_job(tmp_path)


def test_progress(job: Job) -> None:
    reader = ProgressReader(job)
    assert reader.read().render() == "0 of 6"
    write_results(job, 0)
    write_results(job, 1, outcome="error")
    progress = reader.read()
    assert (progress.done, progress.outcomes) == (4, {"answered": 2, "error": 2})
    assert progress.rate is not None
    assert progress.remaining_s is not None
    assert progress.rate * progress.remaining_s == pytest.approx(2)
    assert not progress.is_complete
    # What was there before says nothing of the rate.
    assert ProgressReader(job).read().render() == "4 of 6 · 2 answered, 2 error"
