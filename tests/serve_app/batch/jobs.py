"""Jobs for tests, and what their results hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from serve_app.batch.job import Job, JobSpec, create_job
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.results import SCHEMA, Row
from serve_app.batch.storage import open_folder

# What differs between two runs of the same job.
_TIMES = frozenset({"seconds", "stages_ms"})


def build_job(
    folder: Path | str, *questions: BatchQuestion, block_rows: int = 8, **spec: Any
) -> Job:
    """A new job in a folder."""
    values = {"input": "a test", "principal": "local", **spec}
    return create_job(
        open_folder(str(folder)), JobSpec(**values), questions, lambda total: block_rows
    )


def read_rows(job: Job, *columns: str) -> list[Row]:
    """All rows, sorted by id; without times if no columns are named."""
    names = {*(columns or (set(SCHEMA.names) - _TIMES)), "id"}
    rows = [row for info in job.list_results() for row in job.read_results(info, sorted(names))]
    return sorted(rows, key=lambda row: str(row["id"]))


def build_questions(count: int) -> list[BatchQuestion]:
    """Questions that the echo engine answers with a count; every fourth fails."""
    tables = ("employees", "orders", "products", "no_such_table")
    return [
        BatchQuestion(
            f"q{number:05}",
            f"SELECT {number} AS number, count(*) FROM {tables[number % len(tables)]}",
        )
        for number in range(count)
    ]
