"""The formats of benchmarks, as they are published: how each is recognised and read.

Spider (Yu et al. 2018, https://yale-lily.github.io/spider) and sets in its format: questions as
``{db_id, question, query}``; ``tables.json`` beside them or one folder above, and
``database/<db_id>/<db_id>.sqlite`` beside that.

BIRD (Li et al. 2023, https://bird-bench.github.io), dev and mini-dev on SQLite: questions as
``{question_id, db_id, question, evidence, SQL, difficulty}``;
``dev_databases/<db_id>/<db_id>.sqlite`` beside them or one folder above.
``database_description/<table>.csv`` there describes columns; some of these files are UTF-8 with a
byte order mark, some are Windows-1252.

The PostgreSQL sets of defog (github.com/defog-ai/sql-eval, github.com/defog-ai/defog-data): a CSV
with ``db_name, query_category, question, query`` and, in the sets with hints, ``instructions``;
beside it ``<db_name>.sql``, a script with schema and rows, and ``<db_name>.json``, which describes
columns. Its gold queries are in the notation of ``gold_variants``. sql-eval also accepts answers
with more columns than the gold; here they are wrong.

Files: a folder with ``questions.json``, a list of ``{question, query}``, and files of databases:
``*.sqlite``, ``*.duckdb``, and for PostgreSQL ``*.dump`` (pg_dump's custom format) or ``*.sql``.
``database`` names the file; beside a single file it may be left out. ``db`` and ``sql`` are read
like ``database`` and ``query``; what follows the name after a blank is a remark. A question may
name its schema in a dump or script, as ``schema`` or ``db_id``: that schema is then its database
and search path. A file of another name adds its name to the benchmark's.

Lines: ``{id, database, question, query}`` a line, about databases of the settings file.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from data.benchmarks.entries import (
    Entry,
    build_benchmark,
    find_questions,
    fold_name,
    peek_fields,
    read_csv_entries,
    read_json,
    read_json_entries,
    read_json_line_entries,
)
from data.benchmarks.types import Benchmark, Configured, LocalFile, PostgresFile, Source
from nl2sql.errors import SettingsError


@dataclass(frozen=True, slots=True)
class BenchmarkFormat:
    """One format: its prefix, a description of its files, and functions to find and load it.

    ``find`` returns the questions file at a path, or None; it raises SettingsError for a folder
    with several. ``load`` also gets the names of the databases in the settings file; it raises
    SettingsError.
    """

    name: str
    layout: str
    find: Callable[[Path], Path | None]
    load: Callable[[Path, Collection[str]], Benchmark]


def _find_spider(path: Path) -> Path | None:
    questions = path / "dev.json" if path.is_dir() else path
    if not questions.is_file() or not _find_near(questions, "tables.json").is_file():
        return None
    return questions if {"db_id", "question", "query"} <= peek_fields(questions) else None


def _load_spider(questions: Path, _: Collection[str]) -> Benchmark:
    tables = _find_near(questions, "tables.json")
    names = {
        entry.text("db_id"): dict(_describe_tables(tables, entry.values))
        for entry in read_json_entries(tables)
    }
    return build_benchmark(
        questions,
        read_json_entries(questions),
        name=f"spider {questions.stem}",
        dialect="sqlite",
        locate=lambda entry: _locate_sqlite("spider", tables.parent / "database", entry),
        describe=lambda entry: names.get(entry.text("db_id"), {}),
    )


def _describe_tables(path: Path, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The natural names in an entry of ``tables.json`` that differ from those in the database."""
    try:
        tables = value["table_names_original"]
        for name, text in zip(tables, value["table_names"], strict=True):
            if text.strip() and fold_name(text) != fold_name(name):
                yield name, text
        columns = list(zip(value["column_names_original"], value["column_names"], strict=True))
        taken = {(at, fold_name(name)) for (at, name), _ in columns}
        for (at, name), (_, text) in columns:
            # In some databases the lists do not correspond: the text is another column's name.
            if at >= 0 and text.strip() and (at, fold_name(text)) not in taken:
                yield f"{tables[at]}.{name}", text
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise SettingsError(
            f"{path}, {value.get('db_id')}: is not as in Spider's tables.json ({error})."
        ) from error


_BIRD_FILES = ("dev.json", "mini_dev_sqlite.json")


def _find_bird(path: Path) -> Path | None:
    candidates = [path / name for name in _BIRD_FILES] if path.is_dir() else [path]
    for questions in candidates:
        if questions.is_file() and {"db_id", "question", "SQL"} <= peek_fields(questions):
            return questions
    return None


def _load_bird(questions: Path, _: Collection[str]) -> Benchmark:
    if any(word in questions.stem for word in ("mysql", "postgres", "_pg")):
        raise SettingsError(
            f"{questions} contains queries for another database than SQLite.",
            hint="Use dev.json or mini_dev_sqlite.json.",
        )
    folder = _find_near(questions, "dev_databases")
    return build_benchmark(
        questions,
        read_json_entries(questions),
        name=f"bird {questions.stem}",
        dialect="sqlite",
        locate=lambda entry: _locate_sqlite("bird", folder, entry),
        describe=lambda entry: dict(_describe_bird(folder / entry.file_name("db_id"))),
    )


def _describe_bird(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((folder / "database_description").glob("[!.]*.csv")):
        content = path.read_bytes()
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            # Five bytes are undefined in Windows-1252; a lost letter does not matter.
            text = content.decode("cp1252", errors="replace")
        for row in csv.DictReader(io.StringIO(text, newline="")):
            said = {name.strip(): " ".join((row[name] or "").split()) for name in row if name}
            column = said.get("original_column_name", "")
            meaning = said.get("column_description") or said.get("column_name", "")
            if fold_name(meaning) == fold_name(column):  # the description only repeats the name
                meaning = ""
            values = said.get("value_description", "")
            both = f"{meaning} ({values})" if meaning and values else meaning or values
            if column and both:
                yield f"{path.stem}.{column}", both


def _load_defog(questions: Path, _: Collection[str]) -> Benchmark:
    dialect = questions.stem.rpartition("_")[2]
    if dialect in ("bigquery", "mysql", "snowflake", "sqlite", "tsql"):
        raise SettingsError(
            f"{questions} contains queries for {dialect}.",
            hint="Use the file whose name ends in _postgres.csv.",
        )

    def locate(entry: Entry) -> tuple[str, Source | str]:
        name = entry.file_name("db_name")
        file = questions.parent / f"{name}.sql"
        source = PostgresFile(file) if file.is_file() else f"There is no file {file}."
        return f"defog_{name}", source

    return build_benchmark(
        questions,
        (
            replace(entry, values={**entry.values, "notation": "sql-eval"})
            for entry in read_csv_entries(questions)
        ),
        name=f"defog {questions.stem}",
        dialect="postgres",
        locate=locate,
        describe=lambda entry: dict(
            _describe_defog(questions.parent / f"{entry.file_name('db_name')}.json")
        ),
    )


def _describe_defog(path: Path) -> Iterator[tuple[str, str]]:
    """The texts of ``{"table_metadata": {table: [{column_name, column_description}]}}``."""
    if not path.is_file():
        return
    value: Any = read_json(path)
    try:
        for table, columns in value["table_metadata"].items():
            for column in columns:
                if text := column["column_description"].strip():
                    # Some tables have their schema before their name.
                    yield f"{table.rpartition('.')[2]}.{column['column_name']}", text
    except (AttributeError, KeyError, TypeError) as error:
        raise SettingsError(f"{path} does not describe columns as defog does ({error}).") from error


_IN_PLACE = {".sqlite": "sqlite", ".duckdb": "duckdb"}
_RESTORED = (".dump", ".sql")
_ENDINGS = (*_IN_PLACE, *_RESTORED)


def _find_files(path: Path) -> Path | None:
    questions = path / "questions.json" if path.is_dir() else path
    if questions.suffix != ".json" or not questions.is_file() or not _list_files(questions):
        return None
    fields = peek_fields(questions)
    return questions if "question" in fields and fields & {"query", "sql"} else None


def _load_files(questions: Path, _: Collection[str]) -> Benchmark:
    files = _list_files(questions)
    single = next(iter(files)) if len(files) == 1 else ""

    def locate(entry: Entry) -> tuple[str, Source | str]:
        field = "database" if "database" in entry.values else "db"
        path = Path(single)
        if not single or entry.optional_text(field):
            path = Path(entry.text(field).split()[0])
        stem = path.stem if path.suffix in _ENDINGS else path.name
        file, name = files.get(stem), f"files_{stem}"
        if file is None:
            return name, f"There is no file {stem} with an ending of {', '.join(_ENDINGS)}."
        if file.suffix in _IN_PLACE:
            return name, LocalFile(file)
        schema = (entry.optional_text("schema") or entry.optional_text("db_id")).lower()
        return (
            (f"{name}_{schema}", PostgresFile(file, (schema,)))
            if schema
            else (name, PostgresFile(file))
        )

    folder = single or questions.absolute().parent.name
    dialects = {_IN_PLACE.get(file.suffix, "postgres") for file in files.values()}
    return build_benchmark(
        questions,
        read_json_entries(questions),
        name=folder if questions.stem == "questions" else f"{folder} {questions.stem}",
        dialect=", ".join(sorted(dialects)),
        locate=locate,
    )


def _list_files(questions: Path) -> dict[str, Path]:
    """The files of databases by their names without ending. Raises SettingsError for two of one."""
    found: dict[str, Path] = {}
    for file in sorted(questions.parent.iterdir()):
        if file.suffix in _ENDINGS:
            if file.stem in found:
                raise SettingsError(
                    f"{found[file.stem]} and {file} are databases of one name.",
                    hint="Rename or remove one.",
                )
            found[file.stem] = file
    return found


def load_lines(questions: Path, configured: Collection[str]) -> Benchmark:
    """The benchmark of JSON lines about databases of the settings file, which are ``configured``.

    Raises SettingsError.
    """

    def locate(entry: Entry) -> tuple[str, Source | str]:
        name = entry.text("database")
        known = ", ".join(sorted(configured)) or "none"
        missing = f"The settings file has no database {name!r}; it has {known}."
        return name, Configured() if name in configured else missing

    return build_benchmark(
        questions,
        read_json_line_entries(questions),
        name=questions.stem,
        dialect="postgres",
        locate=locate,
    )


def _find_near(questions: Path, name: str) -> Path:
    """The file or folder of that name, one folder above the questions or else beside them."""
    above = questions.parent.parent / name
    beside = questions.parent / name
    return above if above.exists() and not beside.exists() else beside


def _locate_sqlite(prefix: str, folder: Path, entry: Entry) -> tuple[str, Source | str]:
    """``<db_id>/<db_id>.sqlite`` in the folder."""
    name = entry.file_name("db_id")
    file = folder / name / f"{name}.sqlite"
    return f"{prefix}_{name}", LocalFile(file) if file.is_file() else f"There is no file {file}."


FORMATS: tuple[BenchmarkFormat, ...] = (
    BenchmarkFormat(
        "spider",
        "a JSON list of {db_id, question, query}, tables.json beside it or one folder above",
        _find_spider,
        _load_spider,
    ),
    BenchmarkFormat(
        "bird",
        "a JSON list of {db_id, question, evidence, SQL}, dev_databases/ near it",
        _find_bird,
        _load_bird,
    ),
    BenchmarkFormat(
        "defog",
        "a CSV with db_name, query_category, question, query; <db_name>.sql beside it",
        lambda path: find_questions(
            path, "*.csv", {"db_name", "query_category", "question", "query"}
        ),
        _load_defog,
    ),
    BenchmarkFormat(
        "files",
        "questions.json, a list of {question, query, database}, with the databases' files beside",
        _find_files,
        _load_files,
    ),
    BenchmarkFormat(
        "jsonl",
        "a *.jsonl of {id, database, question, query} about databases of the settings file",
        lambda path: find_questions(path, "*.jsonl", {"database", "question", "query"}),
        load_lines,
    ),
)
"""In the order in which they are tried."""
