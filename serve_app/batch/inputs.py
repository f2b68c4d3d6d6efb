"""Reads the input of a job: JSON lines, CSV or Parquet, by the ending of a file's name."""

from __future__ import annotations

import csv
import io
import json
import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from nl2sql.errors import SettingsError
from serve_app.batch.questions import BatchQuestion, read_question
from serve_app.batch.storage import find_files, translate_errors

Rows = Iterator[tuple[str, Mapping[str, Any]]]


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
    for number, line in enumerate(io.TextIOWrapper(file, encoding="utf-8"), 1):
        if not line.strip():
            continue
        where = f"{name}, line {number},"
        try:
            row = json.loads(line)
        except ValueError as error:
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
        batches = parquet.ParquetFile(file).iter_batches()
        for batch in batches:
            for row in batch.to_pylist():
                yield name, row
    except pa.ArrowInvalid as error:
        raise SettingsError(f"{name} is not Parquet: {error}") from error


_READERS: Mapping[str, Callable[[Any, str], Rows]] = {
    ".jsonl": _read_lines,
    ".ndjson": _read_lines,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
