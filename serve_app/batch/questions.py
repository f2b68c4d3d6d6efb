"""The questions of a job, read from JSON lines, CSV or Parquet by the ending of a file's name."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from nl2sql.errors import SettingsError
from serve_app.batch.storage import find_files, translate_errors

_ID_DIGITS = 20
Rows = Iterator[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """One question of a job."""

    id: str
    question: str
    database: str = ""
    evidence: str = ""


_COLUMNS = tuple(field.name for field in fields(BatchQuestion))


def read_question(row: Mapping[str, Any], where: str) -> BatchQuestion:
    """The question in a row, with an empty id if it has none. Raises SettingsError."""
    if "question" not in row:
        raise SettingsError(
            f"{where} has no column 'question'.",
            hint=f"It has {', '.join(map(str, row))}. Read are {', '.join(_COLUMNS)}.",
        )
    return BatchQuestion(
        **{name: "" if row.get(name) is None else str(row[name]) for name in _COLUMNS}
    )


def complete_ids(questions: Iterable[BatchQuestion]) -> Iterator[BatchQuestion]:
    """Derives the ids that are missing, and checks that all are unique. Raises SettingsError.

    A derived id is a hash of what is asked, and the number of earlier questions that are the same.
    It does not depend on the place in the input.
    """
    seen: Counter[str] = Counter()
    for question in questions:
        name = question.id or _hash(question)
        if not question.id and seen[name]:
            seen[name] += 1
            name = f"{name}-{seen[name] - 1}"
        if seen[name]:
            raise SettingsError(
                f"The id {name!r} occurs twice.",
                hint="Ids are unique; without a column `id` they are derived.",
            )
        seen[name] = 1
        yield replace(question, id=name)


def build_questions_table(questions: Sequence[BatchQuestion]) -> pa.Table:
    """The questions as a table, a column for each of their fields."""
    return pa.table(
        {
            # Arrow cannot hold lone surrogates.
            name: [getattr(one, name).encode(errors="replace").decode() for one in questions]
            for name in _COLUMNS
        }
    )


def _hash(question: BatchQuestion) -> str:
    asked = [getattr(question, field.name) for field in fields(question)]
    content = json.dumps(asked, ensure_ascii=False).encode(errors="surrogatepass")
    return f"q{hashlib.sha256(content).hexdigest()[:_ID_DIGITS]}"


def read_files(location: str) -> Iterator[BatchQuestion]:
    """The questions in a file or in the files of a folder, in their order. Raises SettingsError."""
    filesystem, files = find_files(location)
    for info in files:
        ending = posixpath.splitext(info.path)[1].lower()
        if ending not in _READERS:
            raise SettingsError(
                f"The ending of {info.path} does not tell its format.",
                hint=f"Name it {', '.join(_READERS)}.",
            )
        try:
            with translate_errors(info.path), filesystem.open_input_file(info.path) as file:
                for where, row in _READERS[ending](file, posixpath.basename(info.path)):
                    yield read_question(row, where)
        except (UnicodeDecodeError, csv.Error) as error:
            raise SettingsError(f"{info.path} cannot be read: {error}.") from error


def describe_files(location: str) -> list[list[Any]]:
    """Path, size and time of each file of an input, to see whether it has changed.

    Raises SettingsError.
    """
    _, files = find_files(location)
    return [[info.path, info.size, info.mtime_ns] for info in files]


def _read_lines(file: Any, name: str) -> Rows:
    for number, line in enumerate(io.TextIOWrapper(file, encoding="utf-8-sig"), 1):
        if not line.strip():
            continue
        where = f"{name}, line {number},"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise SettingsError(f"{where} is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise SettingsError(f"{where} is not a JSON object.")
        yield where, row


def _read_csv(file: Any, name: str) -> Rows:
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    for number, row in enumerate(csv.DictReader(text), 1):
        yield f"{name}, row {number},", row


def _read_parquet(file: Any, name: str) -> Rows:
    try:
        stored = parquet.ParquetFile(file)
        names = stored.schema_arrow.names
        if "question" not in names:
            yield name, dict.fromkeys(names)
        # Python cannot hold every value of others.
        for batch in stored.iter_batches(columns=[each for each in names if each in _COLUMNS]):
            for row in batch.to_pylist():
                yield name, row
    except pa.ArrowInvalid as error:
        raise SettingsError(f"{name} is not Parquet: {error}") from error


_READERS: Mapping[str, Callable[[Any, str], Rows]] = {
    ".jsonl": _read_lines,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
