"""The folder of a job: what an interrupted run leaves, and that no other job uses it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from nl2sql.errors import Forbidden, SettingsError
from serve_app.batch.figures import ProgressReader, build_report
from serve_app.batch.job import (
    Job,
    check_principals,
    check_same,
    create_job,
    find_job,
    open_job,
)
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.results import ResultFormat, build_table, write_table
from serve_app.batch.storage import open_folder
from tests.fakes import build_settings
from tests.serve_app.batch.jobs import build_job, build_questions, read_rows

RUN = "0" * 32


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return build_job(tmp_path / "out", *build_questions(6))


def write_results(job: Job, number: int, *ids: str, **row: object) -> Path:
    path = Path(job.output.path) / f"{RUN}_{number:06}.parquet"
    rows = [{"id": name, "outcome": "answered", **row} for name in ids]
    with path.open("wb") as file:
        write_table(build_table(rows), ResultFormat.PARQUET, file)
    return path


def write_checkpoint(job: Job, number: int, *ids: str, ending: str = "") -> Path:
    path = Path(job.checkpoint.path) / f"{RUN}_{number:06}{ending}.parquet"
    parquet.write_table(pa.table({"id": list(ids)}), path)
    return path


def test_a_job_is_found_again(job: Job) -> None:
    assert find_job(job.output) == job
    assert open_job(open_folder(job.output.path)) == job
    assert job.stored.total == 6
    assert job.check() == (6, 0)


def test_only_complete_results_are_kept(job: Job) -> None:
    kept = [write_results(job, 0, "q00000", "q00001"), write_checkpoint(job, 0, "q00000", "q00001")]
    begun = [
        # Killed while it wrote results,
        write_checkpoint(job, 1, "q00002", ending=".pending"),
        write_results(job, 1, "q00002"),
        # before it wrote them,
        write_checkpoint(job, 2, "q00003", ending=".pending"),
        # in the second attempt at a file that was complete,
        write_checkpoint(job, 3, "q00004"),
        write_checkpoint(job, 3, "q00004", ending=".pending"),
        write_results(job, 3, "q00004"),
        # by a process that outlived its run,
        write_results(job, 4, "q00005"),
        # and by somebody who deleted results.
        write_checkpoint(job, 5, "q00005"),
    ]
    foreign = Path(job.output.path) / "mine.parquet"
    foreign.write_bytes(b"not a result")
    assert job.recover() == 3
    assert [path.exists() for path in kept] == [True, True]
    assert not any(path.exists() for path in begun)
    assert foreign.exists()
    assert job.check() == (4, 0)
    assert [row["id"] for row in read_rows(job, "id")] == ["q00000", "q00001"]


def test_a_row_twice_is_noticed(job: Job) -> None:
    for number in (0, 1):
        write_results(job, number, "q00000")
        write_checkpoint(job, number, "q00000")
    assert job.check() == (5, 1)


def test_another_job_needs_another_folder(job: Job) -> None:
    check_same(job, job.spec)
    with pytest.raises(SettingsError, match=r"another input, k\."):
        check_same(job, job.spec.model_copy(update={"input": "other", "k": 3}))


def test_a_folder_with_files_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious.parquet").write_bytes(b"")
    with pytest.raises(SettingsError, match="holds files, but no job"):
        build_job(tmp_path, *build_questions(1))


def test_a_job_that_was_not_stored_completely_begins_again(job: Job) -> None:
    (job.output / "_batch").delete("job.json")
    assert find_job(job.output) is None
    again = create_job(job.output, job.spec, build_questions(2))
    assert again.stored.total == 2
    assert again.check() == (2, 0)


def test_a_job_without_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="holds no questions"):
        build_job(tmp_path)


def test_a_folder_without_a_job(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="holds no job"):
        open_job(open_folder(str(tmp_path)))


def test_progress_counts_complete_results(job: Job) -> None:
    reader = ProgressReader(job)
    assert reader.read().render() == "0 of 6"
    write_results(job, 0, "q00000")
    write_results(job, 1, "q00001", "q00002", outcome="error")
    write_checkpoint(job, 0, "q00000")
    assert reader.read().render() == "1 of 6 · 1 answered"
    write_checkpoint(job, 1, "q00001", "q00002")
    progress = reader.read(datetime.now(UTC) + timedelta(seconds=10))
    assert (progress.done, progress.outcomes) == (3, {"answered": 1, "error": 2})
    assert progress.rate is not None
    assert progress.remaining_s is not None
    assert progress.rate * progress.remaining_s == pytest.approx(3)
    assert not progress.is_complete


def test_a_report(job: Job) -> None:
    values = {"confidence": 0.5, "seconds": 2.0, "database": "shop"}
    write_results(job, 0, "q00000", "q00001", **values)
    write_results(job, 1, "q00002", prompt_tokens=7, **values)
    write_results(job, 2, "q00003", outcome="error", error_class="E", reason="R")
    for number, ids in enumerate((("q00000", "q00001"), ("q00002",), ("q00003",))):
        write_checkpoint(job, number, *ids)
    report = build_report(job)
    assert report.outcomes == {"answered": 3, "error": 1}
    assert report.prompt_tokens == 7
    assert (report.errors, report.reasons) == ({"E": 1}, {"E": "R"})
    assert (report.mean_confidence, report.median_s) == (0.5, 2.0)
    assert report.databases == {"shop": {"answered": 3}, "": {"error": 1}}


ACT_FOR = {"act_for": {"reports": ["mia"], "admin": ["*"]}}
PRINCIPALS: dict[str, dict[str, dict[str, str]]] = {
    "principals": {name: {} for name in ("reports", "admin", "mia", "max")}
}


@pytest.mark.parametrize(
    ("submitter", "named", "allowed"),
    [
        ("local", "", True),
        ("local", "local", True),
        ("mia", "mia", True),
        ("reports", "mia", True),
        ("admin", "max", True),
        ("local", "mia", False),
        ("mia", "max", False),
        ("reports", "max", False),
        ("mia", "local", False),
    ],
)
def test_who_may_ask_as_whom(tmp_path: Path, submitter: str, named: str, allowed: bool) -> None:
    settings = build_settings(identity=PRINCIPALS, batch=ACT_FOR)
    question = BatchQuestion("a", "Q?", principal=named)
    job = build_job(tmp_path, question, submitter=submitter)
    if allowed:
        check_principals(settings, job)
        return
    with pytest.raises(Forbidden, match=f"{submitter} may not ask as {named}"):
        check_principals(settings, job)


def test_an_unknown_principal_is_named(tmp_path: Path) -> None:
    settings = build_settings(identity=PRINCIPALS, batch=ACT_FOR)
    job = build_job(tmp_path, BatchQuestion("a", "Q?", principal="nobody"), submitter="admin")
    with pytest.raises(SettingsError, match="names 'nobody'"):
        check_principals(settings, job)
