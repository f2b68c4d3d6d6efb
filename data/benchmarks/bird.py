"""BIRD (Li et al. 2023, https://bird-bench.github.io): dev and mini-dev, on SQLite or PostgreSQL.

The layout is that of the published archives (README of github.com/bird-bench/mini_dev): a JSON list
of ``{question_id, db_id, question, evidence, SQL, difficulty}``, and

- SQLite (``dev.json``, ``mini_dev_sqlite.json``): ``dev_databases/<db_id>/<db_id>.sqlite`` beside
  it or one folder above;
- PostgreSQL (``mini_dev_postgresql.json``): the dump ``BIRD_dev.sql`` beside it, or in the folder
  ``MINIDEV_postgresql`` beside it or one above. It contains the tables of all databases in one
  schema, so all questions are about one database, ``bird_dev``.

``dev_databases/<db_id>/database_description/<table>.csv`` describes columns (and what their values
mean) in ``original_column_name, column_name, column_description, data_format, value_description``;
some of these files are UTF-8 with a byte order mark, some are Windows-1252.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from data.benchmarks.entries import (
    Entry,
    build_benchmark,
    fold_name,
    peek_fields,
    read_json_entries,
)
from data.benchmarks.types import Benchmark, Example, PostgresFile, Source, SqliteFile
from nl2sql.errors import SettingsError

LAYOUT = "a JSON list of {db_id, question, evidence, SQL}, dev_databases/ or BIRD_dev.sql near it"

_IN_FOLDER = ("dev.json", "mini_dev_sqlite.json", "mini_dev_postgresql.json")
_DATABASES = "dev_databases"
_DUMP = "BIRD_dev.sql"
# The files on the hub are named mini_dev_pg-00000-of-00001.json.
_POSTGRES = re.compile(r"postgres|(^|_)pg(_|-|$)")


def find_bird(path: Path) -> Path | None:
    """The questions file at ``path`` (in a folder: the first of the usual names), or None."""
    candidates = [path / name for name in _IN_FOLDER] if path.is_dir() else [path]
    for questions in candidates:
        if questions.is_file() and {"db_id", "question", "SQL"} <= peek_fields(questions):
            return questions
    return None


def load_bird(questions: Path) -> Benchmark:
    """The benchmark of a questions file that ``find_bird`` found. Raises SettingsError."""
    if "mysql" in questions.stem:
        raise SettingsError(
            f"{questions} contains MySQL queries.",
            hint="Use mini_dev_sqlite.json or mini_dev_postgresql.json.",
        )
    entries = read_json_entries(questions)
    db_ids = tuple(dict.fromkeys(entry.file_name("db_id") for entry in entries))
    folder = _find_databases(questions)
    if _POSTGRES.search(questions.stem):
        dialect = "postgres"
        names = dict.fromkeys(db_ids, "bird_dev")
        databases, missing = _find_dump(questions)
        texts = {key: text for db_id in db_ids for key, text in _read_descriptions(folder, db_id)}
        descriptions = {"bird_dev": texts}
    else:
        dialect = "sqlite"
        names = {db_id: f"bird_{db_id}" for db_id in db_ids}
        databases, missing = _find_files(folder, names.items())
        descriptions = {
            name: dict(_read_descriptions(folder, db_id)) for db_id, name in names.items()
        }
    return build_benchmark(
        questions,
        name=f"bird {questions.stem}",
        dialect=dialect,
        examples=[_build_example(entry, names[entry.file_name("db_id")]) for entry in entries],
        databases=databases,
        missing=missing,
        descriptions=descriptions,
    )


def _build_example(entry: Entry, database: str) -> Example:
    number = entry.optional_text("question_id") or str(entry.number)
    return Example(
        id=f"{entry.path.stem}-{number}",
        database=database,
        question=entry.text("question"),
        golds=(entry.query("SQL"),),
        evidence=entry.optional_text("evidence"),
        difficulty=entry.optional_text("difficulty"),
    )


def _find_databases(questions: Path) -> Path:
    above = questions.parent.parent / _DATABASES
    return above if above.is_dir() else questions.parent / _DATABASES


def _find_files(
    folder: Path, names: Iterable[tuple[str, str]]
) -> tuple[dict[str, Source], dict[str, str]]:
    databases: dict[str, Source] = {}
    missing = {}
    for db_id, name in names:
        file = folder / db_id / f"{db_id}.sqlite"
        if file.is_file():
            databases[name] = SqliteFile(file)
        else:
            missing[name] = f"There is no file {file}."
    return databases, missing


def _find_dump(questions: Path) -> tuple[dict[str, Source], dict[str, str]]:
    here, above = questions.parent, questions.parent.parent
    folder = "MINIDEV_postgresql"
    candidates = (here / _DUMP, here / folder / _DUMP, above / folder / _DUMP)
    for file in candidates:
        if file.is_file():
            return {"bird_dev": PostgresFile(file)}, {}
    return {}, {"bird_dev": f"There is none of the files {', '.join(map(str, candidates))}."}


def _read_descriptions(folder: Path, db_id: str) -> Iterator[tuple[str, str]]:
    """Pairs of ``table.column`` and its description."""
    for path in sorted((folder / db_id / "database_description").glob("[!.]*.csv")):
        rows = csv.DictReader(io.StringIO(_decode(path.read_bytes()), newline=""))
        names = [name.strip() for name in rows.fieldnames or ()]
        if "original_column_name" not in names:
            raise SettingsError(
                f"{path} has no column original_column_name.",
                hint="Correct its header, or remove the file: descriptions are optional.",
            )
        rows.fieldnames = names
        for row in rows:
            column = (row["original_column_name"] or "").strip()
            text = _describe(column, row)
            if column and text:
                yield f"{path.stem}.{column}", text


def _describe(column: str, row: dict[str, str | None]) -> str:
    name, meaning, values = (
        " ".join((row.get(field) or "").split())
        for field in ("column_name", "column_description", "value_description")
    )
    text = meaning or name
    if fold_name(text) == fold_name(column):  # the description only repeats the name
        text = ""
    return f"{text} ({values})" if text and values else text or values


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Five bytes are undefined in Windows-1252; a lost letter does not matter.
        return content.decode("cp1252", errors="replace")
