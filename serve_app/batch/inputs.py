"""Reads the input of a job: JSON lines, CSV, Parquet, OpenAI's batch lines, or a table."""

from __future__ import annotations

import csv
import io
import json
import posixpath
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from nl2sql.errors import SettingsError
from nl2sql.results.json_values import to_json_value
from nl2sql.types import GuardedQuery, Principal, ResultSet
from serve_app.batch.questions import BatchQuestion, Columns, read_chat_line
from serve_app.batch.storage import find_files, translate_errors
from serve_app.composition.wiring import Wiring

TABLE = "table:"
_MOST_TABLE_ROWS = 1_000_000


class InputFormat(StrEnum):
    """How the questions are written; ``auto`` goes by the ending of the file's name."""

    AUTO = "auto"
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    OPENAI = "openai"


_ENDINGS = {
    ".jsonl": InputFormat.JSONL,
    ".ndjson": InputFormat.JSONL,
    ".csv": InputFormat.CSV,
    ".parquet": InputFormat.PARQUET,
}

Rows = Iterator[tuple[str, Mapping[str, Any]]]


def read_files(location: str, format_: InputFormat, columns: Columns) -> Iterator[BatchQuestion]:
    """The questions in a file or in the files of a folder, in their order. Raises SettingsError."""
    filesystem, files = find_files(location)
    for info in files:
        kind = _find_format(info.path, format_)
        try:
            with translate_errors(info.path), filesystem.open_input_file(info.path) as file:
                for where, row in _READERS[kind](file, posixpath.basename(info.path)):
                    if kind == InputFormat.OPENAI or _is_chat_line(row, format_):
                        yield read_chat_line(row, where)
                    else:
                        yield columns.read(row, where)
        except (UnicodeDecodeError, csv.Error) as error:
            raise SettingsError(f"{info.path} cannot be read: {error}.") from error


def describe_files(location: str) -> list[list[Any]]:
    """Path, size and time of each file of an input, to see whether it has changed.

    Raises SettingsError.
    """
    _, files = find_files(location)
    return [[info.path, info.size, info.mtime_ns] for info in files]


async def read_table(wiring: Wiring, name: str, columns: Columns, principal: Principal) -> Any:
    """The questions in ``DATABASE/TABLE``, as far as the principal may see its rows.

    Raises SettingsError, Unavailable.
    """
    database, _, table = name.partition("/")
    if database not in wiring.settings.databases or not table:
        known = ", ".join(wiring.settings.databases)
        raise SettingsError(
            f"{TABLE}{name} names no table.", hint=f"Write {TABLE}DATABASE/TABLE, with {known}."
        )
    result = await _fetch(wiring, database, f"SELECT * FROM {table}", principal)
    if result.truncated:
        raise SettingsError(
            f"{table} has more than {len(result.rows):,} rows.", hint="Export it to Parquet."
        )
    return [
        columns.read(
            dict(zip(result.columns, map(to_json_value, row), strict=True)), f"{TABLE}{name}"
        )
        for row in result.rows
    ]


async def _fetch(wiring: Wiring, database: str, sql: str, principal: Principal) -> ResultSet:
    # Imported here, because the guard takes a second to import and files do not need it.
    from execution.executor import ReadOnlyExecutor
    from retrieval.catalogs import IndexedCatalogs

    store = wiring.build_index_store()
    executor = ReadOnlyExecutor(wiring.build_databases())
    try:
        guarded = await wiring.build_guard(IndexedCatalogs(store)).guard(database, sql, principal)
        if not isinstance(guarded, GuardedQuery):
            raise SettingsError(f"{sql}: {guarded.message}")
        result = await executor.execute(guarded, _MOST_TABLE_ROWS)
        if not isinstance(result, ResultSet):
            raise SettingsError(f"{sql}: {result.message}")
        return result
    finally:
        await executor.close()
        await store.close()


def _find_format(path: str, format_: InputFormat) -> InputFormat:
    if format_ != InputFormat.AUTO:
        return format_
    ending = posixpath.splitext(path)[1].lower()
    if ending not in _ENDINGS:
        raise SettingsError(
            f"The ending of {path} does not tell its format.",
            hint=f"Name it with --format: {', '.join(list(InputFormat)[1:])}.",
        )
    return _ENDINGS[ending]


def _is_chat_line(row: Mapping[str, Any], format_: InputFormat) -> bool:
    return format_ == InputFormat.AUTO and "custom_id" in row and "body" in row


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


_READERS: Mapping[InputFormat, Callable[[Any, str], Rows]] = {
    InputFormat.JSONL: _read_lines,
    InputFormat.OPENAI: _read_lines,
    InputFormat.CSV: _read_csv,
    InputFormat.PARQUET: _read_parquet,
}
