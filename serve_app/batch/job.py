"""The folder of a job: what was asked, the results so far, and which of them are complete.

::

    OUTPUT/
    ├── <name>.parquet              results; or .jsonl
    └── _batch/
        ├── job.json                what the job is; written once its questions are stored
        ├── questions/              the questions in one form, with their ids
        └── checkpoint/             <name>.parquet: the ids in the complete file of that name

Ray Data writes ``<name>.pending.parquet`` before a file of results and renames it after, so that a
file of results without a checkpoint is an incomplete one. Tools that read a folder of Parquet leave
out names that begin with an underscore.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from pydantic import BaseModel, ConfigDict

from nl2sql.errors import Forbidden, SettingsError
from nl2sql.settings import Settings
from serve_app.batch.questions import SCHEMA, BatchQuestion, complete_ids
from serve_app.batch.results import ResultFormat, Row, read_table
from serve_app.batch.storage import Folder

_FILE = "job.json"
_PENDING = ".pending"
ROWS_PER_FILE = 50_000
ROWS_PER_GROUP = 1000
# An object store takes long for each file.
_READERS = 16
ANYBODY = "*"
# Ray Data's names: the identifier of a run and the number of a task.
_OWN_NAME = re.compile(r"[0-9a-f]{32}_[0-9]+")


class JobSpec(BaseModel):
    """What a job is. The same command continues a job if all of this is equal.

    ``files`` describes the files of the input; ``submitter`` is the principal that runs the job.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: str
    files: list[list[Any]] = []
    result_format: ResultFormat = ResultFormat.PARQUET
    submitter: str = ""
    database: str = ""
    k: int | None = None
    seed: int | None = None
    max_rows: int | None = None
    kept_rows: int = 0


class StoredJob(BaseModel):
    """The content of ``job.json``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    spec: JobSpec
    total: int
    principals: list[str]
    databases: list[str]
    created_at: str


@dataclass(frozen=True, slots=True)
class Job:
    """A job whose questions are stored."""

    output: Folder
    stored: StoredJob

    @property
    def spec(self) -> JobSpec:
        """What the job is."""
        return self.stored.spec

    @property
    def questions(self) -> Folder:
        """The folder of questions."""
        return self.output / "_batch" / "questions"

    @property
    def checkpoint(self) -> Folder:
        """The folder of checkpoints."""
        return self.output / "_batch" / "checkpoint"

    def recover(self) -> int:
        """Deletes what an interrupted run left incomplete; returns the number of files of results.

        No run of the job may be under way. Ray Data deletes pending results too, but it leaves the
        checkpoint that an earlier attempt at the same file has completed.
        """
        self.checkpoint.create()
        for info in self.checkpoint.list_files():
            name = _strip(info.path)
            if name.endswith(_PENDING):
                self.checkpoint.delete(f"{name.removesuffix(_PENDING)}.parquet")
                self.checkpoint.delete(posixpath.basename(info.path))
        results, complete = self._list_results(), self._list_complete()
        incomplete = [info for info in results if _strip(info.path) not in complete]
        for info in incomplete:
            self.output.delete(posixpath.basename(info.path))
        for name in complete - {_strip(info.path) for info in results}:
            self.checkpoint.delete(f"{name}.parquet")
        return len(incomplete)

    def check(self) -> tuple[int, int]:
        """Counts the questions without a row and those with more than one."""
        asked = set(read_ids(self.questions, self.questions.list_files()))
        present = {_strip(info.path) for info in self._list_results()}
        files = [info for info in self._list_checkpoints() if _strip(info.path) in present]
        answered, repeated = set(), 0
        for name in read_ids(self.checkpoint, files):
            repeated += name in answered
            answered.add(name)
        return len(asked - answered), repeated

    def list_results(self) -> list[Any]:
        """The complete files of results, as ``pyarrow.fs.FileInfo``."""
        complete = self._list_complete()
        return [info for info in self._list_results() if _strip(info.path) in complete]

    def read_results(self, info: Any, columns: Iterable[str]) -> list[Row]:
        """These columns of a file of results."""
        with self.output.filesystem.open_input_file(info.path) as file:
            return read_table(file, self.spec.result_format, tuple(columns))

    def count_answered(self) -> int:
        """The number of questions that have a row."""
        return sum(1 for _ in read_ids(self.checkpoint, self._list_checkpoints()))

    def _list_results(self) -> list[Any]:
        ending = f".{self.spec.result_format}"
        return [
            info
            for info in self.output.list_files()
            if info.path.endswith(ending) and _OWN_NAME.fullmatch(_strip(info.path))
        ]

    def _list_checkpoints(self) -> list[Any]:
        found = self.checkpoint.list_files()
        return [info for info in found if not _strip(info.path).endswith(_PENDING)]

    def _list_complete(self) -> set[str]:
        return {_strip(info.path) for info in self._list_checkpoints()}


def open_job(output: Folder) -> Job:
    """The job in a folder. Raises SettingsError if there is none."""
    job = find_job(output)
    if job is None:
        raise SettingsError(f"{output.path} holds no job.", hint="Start one: quorumsql batch run.")
    return job


def find_job(output: Folder) -> Job | None:
    """The job in a folder; None if there is none."""
    content = (output / "_batch").read(_FILE)
    return None if content is None else Job(output, StoredJob.model_validate_json(content))


def check_same(job: Job, spec: JobSpec) -> None:
    """Raises SettingsError if the folder holds the results of another job than ``spec``."""
    old, new = job.spec.model_dump(), spec.model_dump()
    if changed := [name for name in old if old[name] != new[name]]:
        raise SettingsError(
            f"{job.output.path} holds a job with another {', '.join(changed)}.",
            hint="Name another folder.",
        )


def check_principals(settings: Settings, job: Job) -> None:
    """Raises Forbidden if the submitter may not act for a principal that a question names.

    Checked at each start, so that a job does not go on with rights that were withdrawn. Raises
    SettingsError for an unknown principal.
    """
    identity, submitter = settings.identity, job.spec.submitter
    identity.principal(submitter)
    allowed = settings.batch.act_for.get(submitter, ())
    for name in job.stored.principals:
        if not name or name == submitter:
            continue
        if ANYBODY not in allowed and name not in allowed:
            raise Forbidden(
                f"{submitter} may not ask as {name}.",
                hint=f"List it under batch.act_for.{submitter} in the settings.",
            )
        try:
            identity.principal(name)
        except SettingsError as error:
            raise SettingsError(f"A question names {name!r}. {error.message}") from error


def create_job(output: Folder, spec: JobSpec, questions: Iterable[BatchQuestion]) -> Job:
    """Stores the questions in ``output``, which must be empty. Raises SettingsError."""
    if output.list_files():
        raise SettingsError(
            f"{output.path} holds files, but no job.", hint="Name a new or an empty folder."
        )
    folder = output / "_batch" / "questions"
    folder.create()
    folder.clear()
    checkpoint = output / "_batch" / "checkpoint"
    checkpoint.create()
    checkpoint.clear()
    principals: dict[str, None] = {}
    databases: dict[str, None] = {}
    total = 0
    remaining = complete_ids(questions)
    while chunk := list(islice(remaining, ROWS_PER_FILE)):
        # Caches of a database, and the engine's of its prompts, serve the questions that follow.
        chunk.sort(key=lambda question: (question.database, question.principal))
        _store(folder, total // ROWS_PER_FILE, chunk)
        total += len(chunk)
        for question in chunk:
            principals[question.principal] = None
            databases[question.database] = None
    if not total:
        raise SettingsError(f"{spec.input} holds no questions.")
    stored = StoredJob(
        spec=spec,
        total=total,
        principals=list(principals),
        databases=list(databases),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    content = json.dumps(stored.model_dump(mode="json"), indent=2, ensure_ascii=False)
    (output / "_batch").write(_FILE, content.encode())
    return Job(output, stored)


def read_ids(folder: Folder, files: Iterable[Any]) -> Iterator[str]:
    """The column ``id`` of Parquet files in a folder."""

    def read(info: Any) -> list[str]:
        with folder.filesystem.open_input_file(info.path) as file:
            ids: list[str] = parquet.read_table(file, columns=["id"])["id"].to_pylist()
            return ids

    with ThreadPoolExecutor(_READERS) as readers:
        for ids in readers.map(read, files):
            yield from ids


def name_questions(number: int) -> str:
    """The name of a file of questions, counted from 0; all but the last have ROWS_PER_FILE."""
    return f"{number:06}.parquet"


def read_questions(table: pa.Table) -> list[BatchQuestion]:
    """The questions in a table with the columns of ``SCHEMA``."""
    return [BatchQuestion(**row) for row in table.select(SCHEMA.names).to_pylist()]


def _store(folder: Folder, number: int, questions: list[BatchQuestion]) -> None:
    table = pa.table(
        {
            name: pa.array([_clean(getattr(question, name)) for question in questions], kind)
            for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True)
        },
        schema=SCHEMA,
    )
    buffer = pa.BufferOutputStream()
    parquet.write_table(table, buffer, row_group_size=ROWS_PER_GROUP)
    folder.write(name_questions(number), buffer.getvalue().to_pybytes())


def _clean(value: Any) -> Any:
    # Arrow cannot hold lone surrogates.
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _strip(path: str) -> str:
    """The name of a file without folder and ending."""
    return posixpath.splitext(posixpath.basename(path))[0]
