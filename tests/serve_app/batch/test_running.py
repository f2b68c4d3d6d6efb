"""Jobs on Ray that a running service answers: results, what is repeated, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from nl2sql.errors import EngineUnavailable
from serve_app.batch.figures import BatchProgress
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.running import find_cause, run_job
from serve_app.settings import Settings
from tests.fakes import build_result, build_settings
from tests.serve_app.batch.jobs import build_job, build_questions, read_rows
from tests.serve_app.served import OneQueryGenerator, build_app, serve

NOWHERE = "http://127.0.0.1:1"

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture(scope="module")
def settings() -> Settings:
    return build_settings()


@pytest.fixture(scope="module")
def url(settings: Settings) -> Iterator[str]:
    """A service that answers every question with the row 1."""
    results = {"SELECT 1": [build_result((1,))] * 9999}
    with serve(build_app(settings, generator=OneQueryGenerator(), results=results)) as address:
        yield address


def test_each_question_has_one_row_whatever_comes_of_it(
    settings: Settings, url: str, tmp_path: Path
) -> None:
    wrong = {
        "empty": BatchQuestion("empty", "  "),
        "nowhere": BatchQuestion("nowhere", "Q?", database="nowhere"),
    }
    questions = [*build_questions(30), *wrong.values()]
    job = build_job(tmp_path, *questions, kept_rows=1)
    progress = run_job(job, settings, url, workers=2)
    assert (progress.done, progress.total) == (32, 32)
    assert progress.outcomes == {"answered": 30, "error": 2}
    rows = {row["id"]: row for row in read_rows(job)}
    assert rows.keys() == {question.id for question in questions}
    for name, row in rows.items():
        if name in wrong:
            assert row["reason"]
        else:
            assert (row["sql"], json.loads(row["rows"])) == ("SELECT 1", [[1]])


def test_a_job_goes_on_where_it_was(settings: Settings, url: str, tmp_path: Path) -> None:
    job = build_job(tmp_path, *build_questions(16))
    run_job(job, settings, url, workers=2)
    before = read_rows(job)
    first, *others = job.list_results()
    # As if the job had been killed before it wrote the first file.
    Path(first.path).unlink()
    seen: list[BatchProgress] = []
    run_job(job, settings, url, workers=2, follow=seen.append, interval_s=0.2)
    assert seen[-1].is_complete
    assert read_rows(job) == before
    kept = {info.path: info.mtime_ns for info in others}
    assert {info.path: info.mtime_ns for info in job.list_results()}.items() >= kept.items()
    # A complete job needs no service.
    assert run_job(job, settings, NOWHERE).is_complete


def read_command(process: psutil.Process) -> str:
    """How it was called; empty once it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@pytest.mark.long
def test_a_job_survives_the_death_of_a_worker(settings: Settings, url: str, tmp_path: Path) -> None:
    questions = build_questions(400)
    job = build_job(tmp_path, *questions, block_rows=2)
    killed: list[psutil.Process] = []

    def kill(progress: BatchProgress) -> None:
        for process in psutil.Process().children(recursive=True):
            is_worker = read_command(process).startswith("ray::MapWorker")
            if is_worker and not killed and 20 < progress.done < progress.total:
                process.kill()
                killed.append(process)

    progress = run_job(
        job, settings, url, workers=2, questions_at_once=1, follow=kill, interval_s=0.05
    )
    assert killed
    assert progress.is_complete
    assert [row["id"] for row in read_rows(job, "id")] == [one.id for one in questions]


def test_our_own_error_is_found_behind_rays() -> None:
    own = EngineUnavailable("It died.")
    outer = RuntimeError("a traceback")
    outer.__cause__ = own
    assert find_cause(outer) is own
    assert "goes on from there" in str(find_cause(RuntimeError("The node died.\n")))
