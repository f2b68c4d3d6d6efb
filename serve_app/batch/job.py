"""The folder of a job: what was asked, and the results so far.

::

    OUTPUT/
    ├── 000017.parquet              the results of block 17
    └── _batch/
        ├── job.json                what the job is; written once its questions are stored
        └── questions.parquet       the questions with their ids; each block is a row group

A file of results is written as a whole, so that a block is answered if its file is there. Tools
that read a folder of Parquet leave out names that begin with an underscore.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from pydantic import BaseModel, ConfigDict, ValidationError

from nl2sql.errors import SettingsError
from quorumsql.contract.model import CandidateCount
from serve_app.batch.questions import BatchQuestion, build_questions_table, complete_ids
from serve_app.batch.results import Row, render_rows
from serve_app.batch.storage import Folder, translate_errors

_FILE = "job.json"
_QUESTIONS = "questions.parquet"
_RESULTS = re.compile(r"([0-9]{6,})\.parquet")
# Questions that are Python objects at the same time.
_ROWS_AT_ONCE = 10_000


class JobSpec(BaseModel):
    """What a job is. The same command continues a job if all of this is equal.

    ``files`` describes the files of the input; ``principal`` is who asks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: str
    files: list[list[Any]] = []
    principal: str = ""
    database: str = ""
    k: CandidateCount | None = None
    seed: int | None = None
    max_rows: int | None = None
    kept_rows: int = 0


class StoredJob(BaseModel):
    """The content of ``job.json``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    spec: JobSpec
    total: int
    blocks: int
    created_at: str


@dataclass(frozen=True, slots=True)
class Job:
    """A job whose questions are stored. Survives pickle."""

    output: Folder
    stored: StoredJob

    @property
    def spec(self) -> JobSpec:
        """What the job is."""
        return self.stored.spec

    def list_open_blocks(self) -> list[int]:
        """The numbers of the blocks that have no results."""
        answered = {_read_number(info) for info in self.list_results()}
        return [number for number in range(self.stored.blocks) if number not in answered]

    def read_questions(self, block: int) -> list[BatchQuestion]:
        """The questions of a block. Raises SettingsError if they cannot be read."""
        path = (self.output / "_batch" / _QUESTIONS).path
        with (
            translate_errors(path, "If it is damaged, name another folder for the job."),
            self.output.filesystem.open_input_file(path) as file,
        ):
            rows = parquet.ParquetFile(file).read_row_group(block).to_pylist()
        return [BatchQuestion(**row) for row in rows]

    def write_results(self, block: int, rows: Sequence[Row]) -> None:
        """Writes the rows of a block as a whole; a second attempt replaces the first."""
        self.output.write(f"{block:06}.parquet", render_rows(rows))

    def list_results(self) -> list[Any]:
        """The files of results, as ``pyarrow.fs.FileInfo``."""
        return [info for info in self.output.list_files() if _read_number(info) is not None]

    def read_results(self, info: Any, columns: Iterable[str]) -> list[Row]:
        """These columns of a file of results. Raises SettingsError if it cannot be read."""
        hint = "If it is damaged, delete it: the same command then asks its questions again."
        with (
            translate_errors(info.path, hint),
            self.output.filesystem.open_input_file(info.path) as file,
        ):
            rows: list[Row] = parquet.read_table(file, columns=list(columns)).to_pylist()
            return rows


def find_job(output: Folder) -> Job | None:
    """The job in a folder; None if there is none. Raises SettingsError for an unreadable one."""
    content = (output / "_batch").read(_FILE)
    try:
        return None if content is None else Job(output, StoredJob.model_validate_json(content))
    except ValidationError as error:
        message = f"{output.path} holds a job of another version, or a damaged one."
        raise SettingsError(message, hint="Name another folder.") from error


def check_same(job: Job, spec: JobSpec) -> None:
    """Raises SettingsError if the folder holds the results of another job than ``spec``."""
    old, new = job.spec.model_dump(), spec.model_dump()
    if changed := [name for name in old if old[name] != new[name]]:
        raise SettingsError(
            f"{job.output.path} holds a job with another {', '.join(changed)}.",
            hint="Name another folder.",
        )


def create_job(
    output: Folder,
    spec: JobSpec,
    questions: Iterable[BatchQuestion],
    choose_block_rows: Callable[[int], int],
) -> Job:
    """Stores the questions in ``output``, which must be empty. Raises SettingsError.

    ``choose_block_rows`` tells, for the number of questions, how many are in a block.
    """
    if output.list_files():
        raise SettingsError(
            f"{output.path} holds files, but no job.", hint="Name a new or an empty folder."
        )
    complete = complete_ids(questions)
    parts = iter(lambda: list(islice(complete, _ROWS_AT_ONCE)), [])
    tables = [build_questions_table(part) for part in parts]
    if not tables:
        raise SettingsError(f"{spec.input} holds no questions.")
    # Caches of a database, and the engine's of its prompts, serve the questions that follow.
    table = pa.concat_tables(tables).sort_by("database")
    block_rows = choose_block_rows(len(table))
    buffer = pa.BufferOutputStream()
    parquet.write_table(table, buffer, row_group_size=block_rows)
    stored = StoredJob(
        spec=spec,
        total=len(table),
        blocks=-(-len(table) // block_rows),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    folder = output / "_batch"
    folder.create()
    folder.write(_QUESTIONS, buffer.getvalue().to_pybytes())
    content = json.dumps(stored.model_dump(mode="json"), indent=2, ensure_ascii=False)
    folder.write(_FILE, content.encode())
    return Job(output, stored)


def _read_number(info: Any) -> int | None:
    """The number of the block of a file of results; None for any other file."""
    found = _RESULTS.fullmatch(posixpath.basename(info.path))
    return int(found[1]) if found else None
