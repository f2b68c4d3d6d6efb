"""BIRD (Li et al. 2023, https://bird-bench.github.io): dev and mini-dev, on SQLite.

The layout is that of the published archives (README of github.com/bird-bench/mini_dev): a JSON list
of ``{question_id, db_id, question, evidence, SQL, difficulty}`` (``dev.json``,
``mini_dev_sqlite.json``), and ``dev_databases/<db_id>/<db_id>.sqlite`` beside it or one folder
above.

``dev_databases/<db_id>/database_description/<table>.csv`` describes columns (and what their values
mean) in ``original_column_name, column_name, column_description, data_format, value_description``;
some of these files are UTF-8 with a byte order mark, some are Windows-1252.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from data.benchmarks.entries import (
    build_benchmark,
    fold_name,
    peek_fields,
    read_json_entries,
)
from data.benchmarks.types import Benchmark, Example, LocalFile, Source
from nl2sql.errors import SettingsError

LAYOUT = "a JSON list of {db_id, question, evidence, SQL}, dev_databases/ near it"

_IN_FOLDER = ("dev.json", "mini_dev_sqlite.json")
_DATABASES = "dev_databases"


def find_bird(path: Path) -> Path | None:
    """The questions file at ``path`` (in a folder: the first of the usual names), or None."""
    candidates = [path / name for name in _IN_FOLDER] if path.is_dir() else [path]
    for questions in candidates:
        if questions.is_file() and {"db_id", "question", "SQL"} <= peek_fields(questions):
            return questions
    return None


def load_bird(questions: Path) -> Benchmark:
    """The benchmark of a questions file that ``find_bird`` found. Raises SettingsError."""
    if any(word in questions.stem for word in ("mysql", "postgres", "_pg")):
        raise SettingsError(
            f"{questions} contains queries for another database than SQLite.",
            hint="Use dev.json or mini_dev_sqlite.json.",
        )
    folder = _find_databases(questions)
    examples = []
    databases: dict[str, Source] = {}
    missing = {}
    descriptions = {}
    for entry in read_json_entries(questions):
        db_id = entry.file_name("db_id")
        name = f"bird_{db_id}"
        file = folder / db_id / f"{db_id}.sqlite"
        if not file.is_file():
            missing[name] = f"There is no file {file}."
        elif name not in databases:
            databases[name] = LocalFile(file)
            descriptions[name] = dict(_read_descriptions(folder, db_id))
        number = entry.optional_text("question_id") or str(entry.number)
        examples.append(
            Example(
                id=f"{questions.stem}-{number}",
                database=name,
                question=entry.text("question"),
                golds=(entry.query("SQL"),),
                evidence=entry.optional_text("evidence"),
                difficulty=entry.optional_text("difficulty"),
            )
        )
    return build_benchmark(
        questions,
        name=f"bird {questions.stem}",
        dialect="sqlite",
        examples=examples,
        databases=databases,
        missing=missing,
        descriptions=descriptions,
    )


def _find_databases(questions: Path) -> Path:
    above = questions.parent.parent / _DATABASES
    return above if above.is_dir() else questions.parent / _DATABASES


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
